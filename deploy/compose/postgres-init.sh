#!/bin/sh
# Runs once, on an empty volume: one role and its databases for Temporal, one for redrive, neither a superuser.
set -eu

psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set temporal="$TEMPORAL_DB_PASSWORD" --set redrive="$REDRIVE_DB_PASSWORD" <<'SQL'
CREATE ROLE temporal LOGIN PASSWORD :'temporal';
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
CREATE ROLE redrive LOGIN PASSWORD :'redrive';
CREATE DATABASE redrive OWNER redrive;
SQL
