#!/bin/sh
# Brings Temporal's two databases to the schema of this image's version. Running it again changes nothing.
# Address, user and password come from temporal-sql-tool's own variables (SQL_HOST, SQL_PORT, SQL_USER, SQL_PASSWORD).
set -eu

schema=/etc/temporal/schema/postgresql/v12
for pair in temporal:temporal temporal_visibility:visibility; do
  database=${pair%%:*}
  temporal-sql-tool --database "$database" setup-schema --version 0.0
  temporal-sql-tool --database "$database" update-schema --schema-dir "$schema/${pair##*:}/versioned"
done
