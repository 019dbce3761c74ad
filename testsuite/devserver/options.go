package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/dynamicconfig"
)

type options struct {
	ip                     string
	port, httpPort, uiPort int
	noUI                   bool
	codecEndpoint          string
	db                     string
	namespaces             []string
	searchAttributes       map[string]enumspb.IndexedValueType
	dynamicConfig          dynamicconfig.StaticClient
	retention              time.Duration
	logLevel               string
}

func (o options) addr(port int) string { return net.JoinHostPort(o.ip, strconv.Itoa(port)) }

func parseOptions(args []string) (options, error) {
	o := options{searchAttributes: map[string]enumspb.IndexedValueType{}, dynamicConfig: defaultDynamicConfig()}
	fs := flag.NewFlagSet("devserver", flag.ContinueOnError)
	fs.StringVar(&o.ip, "ip", "127.0.0.1", "loopback `address` everything listens on")
	fs.IntVar(&o.port, "port", 0, "gRPC `port`; 0 chooses a free one")
	fs.IntVar(&o.httpPort, "http-port", 0, "HTTP API `port`; 0 chooses a free one")
	fs.IntVar(&o.uiPort, "ui-port", 0, "Web UI `port`; 0 chooses a free one")
	fs.BoolVar(&o.noUI, "no-ui", false, "do not serve the Web UI")
	fs.StringVar(&o.codecEndpoint, "ui-codec-endpoint", "", "`URL` the Web UI decodes payloads with")
	fs.StringVar(&o.db, "db", "", "SQLite `file`, created when missing; empty keeps everything in memory")
	fs.StringVar(&o.logLevel, "log-level", "error", "debug, info, warn or error")
	fs.DurationVar(&o.retention, "retention", 24*time.Hour, "how long new namespaces keep closed workflows")
	fs.Func("namespace", "namespace to create; repeatable (default \"default\")", func(s string) error {
		o.namespaces = append(o.namespaces, s)
		return nil
	})
	fs.Func("search-attribute", "`Name=Type` to register, as in JobType=Keyword; repeatable", o.addSearchAttribute)
	fs.Func("dynamic-config", "`key=value` (value in YAML) of the server's dynamic configuration; repeatable", o.addDynamicConfig)
	fs.SetOutput(io.Discard) // the error says what is wrong; the list of flags would hide it
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fs.SetOutput(os.Stderr)
		fs.PrintDefaults()
		return options{}, err
	} else if err != nil {
		return options{}, err
	}
	if fs.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	return o, o.complete()
}

func (o *options) complete() error {
	if len(o.namespaces) == 0 {
		o.namespaces = []string{"default"}
	}
	// There is no authentication here, so nothing beyond this machine may reach it.
	if ip := net.ParseIP(o.ip); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("--ip %q is not a loopback address", o.ip)
	}
	if o.retention <= 0 {
		return fmt.Errorf("--retention %s: must be positive", o.retention)
	}
	switch o.logLevel {
	case "debug", "info", "warn", "error":
		return nil
	}
	return fmt.Errorf("--log-level %q: want debug, info, warn or error", o.logLevel)
}

func (o *options) addSearchAttribute(s string) error {
	name, typeName, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return errors.New("want Name=Type")
	}
	t, err := enumspb.IndexedValueTypeFromString(typeName)
	if err != nil {
		return err
	}
	o.searchAttributes[name] = t
	return nil
}
