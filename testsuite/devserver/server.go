package main

import (
	"fmt"
	"net"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/server_options"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

// server is a running Temporal with its Web UI.
type server struct {
	opts     options // with every port chosen
	temporal temporal.Server
	ui       *uiserver.Server // nil without a UI
}

// start brings everything up. It returns when the services run, which is before all of them answer: see awaitReady.
func start(opts options) (*server, error) {
	internal, err := opts.choosePorts()
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(opts)
	if err != nil {
		return nil, err
	}
	s := &server{opts: opts}
	s.temporal, err = temporal.NewServer(
		temporal.WithConfig(serverConfig(opts, internal, db)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts(opts, internal)),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(log.Config{Level: opts.logLevel}))),
		temporal.WithDynamicConfigClient(opts.dynamicConfig),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("set up Temporal: %w", err)
	}
	if err := s.temporal.Start(); err != nil {
		return nil, fmt.Errorf("start Temporal: %w", err)
	}
	if !opts.noUI {
		s.ui = newUI(opts)
		go func() { _ = s.ui.Start() }() // it ends the process when it cannot listen
	}
	return s, nil
}

// stop lets a file's server finish what it is writing. In memory there is nothing to save, and a clean stop takes about a
// second, which every test would pay.
func (s *server) stop() {
	if s.ui != nil {
		s.ui.Stop()
	}
	if s.opts.db != "" {
		_ = s.temporal.Stop()
	}
}

func newUI(opts options) *uiserver.Server {
	host := opts.ip
	if net.ParseIP(host).To4() == nil {
		host = "[" + host + "]" // it joins host and port itself, without brackets
	}
	return uiserver.NewServer(server_options.WithConfigProvider(&uiconfig.Config{
		Host: host, Port: opts.uiPort, TemporalGRPCAddress: opts.addr(opts.port),
		EnableUI: true, HideLogs: true, DefaultNamespace: opts.namespaces[0],
		// Plain http on loopback: a Secure cookie would never come back, and every action in the UI would fail.
		CORS:  uiconfig.CORS{CookieInsecure: true},
		Codec: uiconfig.Codec{Endpoint: opts.codecEndpoint},
		// It would ask GitHub for releases.
		NotifyOnNewVersion: false,
	}))
}

// hosts replaces gossip membership: one process, known addresses, no ringpop ports and no time spent joining.
func hosts(opts options, internal ports) map[primitives.ServiceName]static.Hosts {
	at := func(port int) static.Hosts { return static.SingleLocalHost(opts.addr(port)) }
	return map[primitives.ServiceName]static.Hosts{
		primitives.FrontendService: at(opts.port),
		primitives.HistoryService:  at(internal.history),
		primitives.MatchingService: at(internal.matching),
		primitives.WorkerService:   at(internal.worker),
	}
}

// serverConfig is one cluster with one shard. Metrics, profiling and archival stay off by being absent.
func serverConfig(opts options, internal ports, db *config.SQL) *config.Config {
	service := func(port, httpPort int) config.Service {
		return config.Service{RPC: config.RPC{GRPCPort: port, HTTPPort: httpPort, BindOnIP: opts.ip}}
	}
	return &config.Config{
		Global: config.Global{Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: opts.ip}},
		Persistence: config.Persistence{
			DefaultStore: db.PluginName, VisibilityStore: db.PluginName, NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{db.PluginName: {SQL: db}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
				Enabled: true, InitialFailoverVersion: 1,
				RPCAddress: opts.addr(opts.port), HTTPAddress: opts.addr(opts.httpPort),
			}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			string(primitives.FrontendService): service(opts.port, opts.httpPort),
			string(primitives.HistoryService):  service(internal.history, 0),
			string(primitives.MatchingService): service(internal.matching, 0),
			string(primitives.WorkerService):   service(internal.worker, 0),
		},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchival{State: config.ArchivalDisabled},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: config.ArchivalDisabled},
		}},
		PublicClient: config.PublicClient{HostPort: opts.addr(opts.port)},
	}
}
