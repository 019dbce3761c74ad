package pg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	superuser = "postgres" // trust authentication: no password anywhere

	// startLimit bounds one start or stop of the server. A cold start takes about a second; a loaded machine gets time.
	startLimit = time.Minute
)

// errPortTaken says that another process got the port between our choice and PostgreSQL's bind.
var errPortTaken = errors.New("port taken by another process")

// Options of a cluster. The zero value is what tests want.
type Options struct {
	MaxConnections int    // default 300
	Dir            string // parent of the cluster's directory, which the server's account must be able to reach; default os.TempDir
}

func (o Options) withDefaults() Options {
	if o.MaxConnections == 0 {
		o.MaxConnections = 300
	}
	if o.Dir == "" {
		o.Dir = os.TempDir()
	}
	return o
}

// Cluster is a running, or paused, PostgreSQL. Its methods are safe for concurrent use.
type Cluster struct {
	bin  string
	dir  string
	port int
	opts Options
	as   *account

	mu     sync.Mutex
	server *server // nil while paused or stopped
	gone   bool
}

// Start makes a cluster and returns once it answers. It takes one to three seconds, most of it initdb.
// Without server programs on this machine the error is ErrNotInstalled.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	bin, err := binDir()
	if err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	c := &Cluster{bin: bin, opts: opts.withDefaults(), as: as}
	if err := c.create(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.dir))
	}
	if err := c.startOnFreePort(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.dir))
	}
	return c, nil
}

func (c *Cluster) create(ctx context.Context) error {
	dir, err := os.MkdirTemp(c.opts.Dir, "redrive-pg-")
	if err != nil {
		return fmt.Errorf("create postgresql directory: %w", err)
	}
	c.dir = dir
	if err := c.as.own(dir); err != nil {
		return err
	}
	initdb := exec.CommandContext(ctx, filepath.Join(c.bin, "initdb"),
		"--pgdata", c.data(), "--username", superuser, "--auth", "trust", "--encoding", "UTF8", "--locale", "C",
		"--no-sync", "--no-instructions")
	initdb.Dir = dir
	initdb.Env = environment()
	initdb.SysProcAttr = c.as.attributes()
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb in %s: %w\n%s", dir, err, out)
	}
	return nil
}

func (c *Cluster) startOnFreePort(ctx context.Context) error {
	var err error
	for range 5 {
		if c.port, err = freePort(ctx); err != nil {
			return err
		}
		if c.server, err = c.run(ctx); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

// DSN returns the address of a database as a URL; an empty name means the maintenance database.
func (c *Cluster) DSN(database string) string {
	if database == "" {
		database = "postgres"
	}
	u := url.URL{
		Scheme: "postgres", User: url.User(superuser), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)),
		Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// CreateDatabase makes an empty database and returns its DSN.
func (c *Cluster) CreateDatabase(ctx context.Context) (dsn string, err error) {
	return createDatabase(ctx, c.DSN(""))
}

// Pause stops the server, breaking every connection, and keeps port and data: what a client sees when a database goes
// down. Pausing a paused cluster does nothing.
func (c *Cluster) Pause(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil {
		return nil
	}
	if err := c.server.end(ctx, "INT"); err != nil {
		return fmt.Errorf("pause postgresql: %w", err)
	}
	c.server = nil
	return nil
}

// Resume starts a paused cluster on the same port with the same data, and returns once it answers.
// Resuming a running cluster does nothing.
func (c *Cluster) Resume(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return errors.New("resume postgresql: the cluster was stopped for good")
	}
	if c.server != nil {
		return nil
	}
	running, err := c.run(ctx)
	if err != nil {
		return fmt.Errorf("resume postgresql: %w", err)
	}
	c.server = running
	return nil
}

// Stop ends the cluster and removes its data. Stopping twice does nothing.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil
	}
	c.gone = true
	var err error
	if c.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), startLimit)
		defer cancel()
		err = c.server.end(ctx, "QUIT")
		c.server = nil
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// run starts the server and waits until it answers.
func (c *Cluster) run(ctx context.Context) (*server, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	s, err := c.spawn()
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		if ping(ctx, c.DSN("")) == nil {
			return s, nil
		}
		select {
		case <-s.done:
			return nil, s.whyEnded()
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("postgresql on port %d: %w", c.port, ctx.Err()), s.end(context.WithoutCancel(ctx), "QUIT"))
		case <-tick.C:
		}
	}
}

func ping(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(conn.Ping(ctx), conn.Close(ctx))
}
