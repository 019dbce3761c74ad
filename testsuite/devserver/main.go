package main

import (
	_ "github.com/temporalio/ui-server/v2/server"
	_ "go.temporal.io/server/temporal"
	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	_ "go.temporal.io/server/schema/sqlite"
)

func main() {}
