package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/worker"
)

// build is what `redrive version` says.
type build struct {
	Version string `json:"version"` // also the default handler version
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	SDK     string `json:"temporal_sdk"`
}

func thisBuild() build {
	b := build{Version: worker.BuildVersion(), Go: runtime.Version(), SDK: temporal.SDKVersion}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				b.Commit = setting.Value
			}
		}
	}
	return b
}

func newVersion(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Say which build this is", Args: takes(),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			return env.print(b, func(w io.Writer) {
				fmt.Fprintf(w, "redrive %s\ncommit  %s\ngo      %s\nsdk     %s\n", b.Version, orDash(b.Commit), b.Go, b.SDK)
			})
		},
	}
}
