package testsuite_test

import (
	"context"
	"fmt"
	"os"

	sdkclient "go.temporal.io/sdk/client"

	"github.com/redrivehq/redrive/testsuite"
)

func ExampleStartServer() {
	ctx := context.Background()
	server, err := testsuite.StartServer(ctx, testsuite.ServerOptions{Logs: os.Stderr})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	fmt.Println("running on", server.Source)

	client, err := sdkclient.DialContext(ctx, sdkclient.Options{HostPort: server.Address, Namespace: server.Namespace})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	// Register workers and enqueue jobs with client.
}
