package config_test

import (
	"fmt"

	"github.com/redrivehq/redrive/config"
)

// A program loads its file once, with os.Getenv as the lookup, and hands the parts on.
func ExampleParse() {
	source := []byte(`
policies:
  types:
    email.send: {lease: 5s, timeout: 1m}
`)
	variables := map[string]string{"REDRIVE_LOG_LEVEL": "debug"}
	c, err := config.Parse("redrive.yaml", source, func(name string) string { return variables[name] })
	fmt.Println(c.Store.URL, c.Log.Level, c.JobPolicies().For("email.send").Lease, err)
	// Output:
	// sqlite:.data/redrive.db debug 5s <nil>
}

// Numbers that contradict each other refuse to start.
func ExampleParse_refused() {
	source := []byte(`
policies:
  types:
    email.send:
      timeout: 10s
`)
	_, err := config.Parse("redrive.yaml", source, nil)
	fmt.Println(err)
	// Output:
	// redrive.yaml:5: policies.types.email.send.timeout: timeout 10s is shorter than lease 30s
}
