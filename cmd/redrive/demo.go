package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/replay"
	"github.com/redrivehq/redrive/starter"
)

//go:embed demo
var demoFiles embed.FS

// demoLimit bounds the whole story.
const demoLimit = 3 * time.Minute

// demoOptions say how the demo runs.
type demoOptions struct {
	Stack  stackOptions
	Stay   bool   // until a signal, with everything as the demo left it
	Report string // file for the report in JSON; empty: none
}

// demo is the whole story, told with real processes.
type demo struct {
	stack    *stack
	starter  *starter.Client
	replay   *replay.Client
	receiver *receiver
	line     timeline
	outbox   string // the file in which the sample handlers leave their effects
	config   string // the workers' redrive.yaml

	workers []*demoWorker
	jobs    []job.KeyID
	report  demoReport

	directory string // made for this demo, and removed after it
}

// runDemo returns the exit code.
func runDemo(ctx context.Context, env *environment, opts demoOptions) (code int, err error) {
	started := time.Now()
	d := &demo{line: timeline{
		out: env.stdout, start: started, color: isTerminal(env.stdout) && env.getenv("NO_COLOR") == "",
	}}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.prepare(ctx, env, opts); err != nil {
		return exitFailed, err
	}
	told, cancel := context.WithTimeout(ctx, demoLimit)
	defer cancel()
	err = d.tell(told)
	d.report.judge(started)
	if err != nil {
		d.report.OK = false
		d.line.say("✗", "%s", printableLines(err.Error()))
	} else {
		d.conclude()
	}
	if opts.Report != "" {
		if err := d.report.write(opts.Report); err != nil {
			return exitFailed, err
		}
	}
	if !d.report.OK {
		return exitFailed, nil
	}
	if opts.Stay {
		d.stack.announceDemo(env.stdout)
		return exitDone, d.stack.wait(ctx)
	}
	d.line.say("→", "now: make dev")
	return exitDone, nil
}

func (d *demo) tell(ctx context.Context) error {
	for _, chapter := range []func(context.Context) error{
		d.enqueueAll, d.validJobs, d.killAWorker, d.leaseExpires, d.throttledDelivery,
		d.showTheDeadLetter, d.askTooEarly, d.deployTheRepair, d.replayIt, d.count,
	} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare starts the stack without a worker of its own, in a directory that no earlier demo has used: its keys are fixed.
func (d *demo) prepare(ctx context.Context, env *environment, opts demoOptions) (err error) {
	o := opts.Stack
	o.NoWorker = true
	if o.DataDir != "" {
		if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
		if o.DataDir, err = os.MkdirTemp(o.DataDir, "demo-"); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
		d.directory = o.DataDir
	}
	if d.stack, err = startStack(ctx, env, o); err != nil {
		return err
	}
	if d.receiver, err = startReceiver(ctx); err != nil {
		return err
	}
	if d.starter, err = newStarter(d.stack.Client, d.stack.Vault, d.stack.settings.JobPolicies(), d.stack.logger); err != nil {
		return err
	}
	d.replay = replay.New(d.stack.Client, d.stack.Store)
	d.outbox = filepath.Join(d.stack.DataDir, "outbox.jsonl")
	d.config = filepath.Join(d.stack.DataDir, "redrive.yaml")
	policies, err := demoFiles.ReadFile("demo/redrive.yaml")
	if err != nil {
		return err
	}
	return os.WriteFile(d.config, policies, 0o600)
}

// envelopes reads the jobs of the story, in the order of their file names.
func (d *demo) envelopes() ([]job.Envelope, error) {
	files, err := fs.Glob(demoFiles, "demo/*.json")
	if err != nil {
		return nil, err
	}
	var all []job.Envelope
	for _, file := range files {
		raw, err := demoFiles.ReadFile(file)
		if err != nil {
			return nil, err
		}
		envelope, err := job.ParseEnvelope([]byte(strings.ReplaceAll(string(raw), "RECEIVER", d.receiver.address)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, envelope)
	}
	return all, nil
}

// close ends the workers first, while what they drain into still answers.
func (d *demo) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var errs []error
	for _, w := range d.workers {
		errs = append(errs, w.stop(ctx))
	}
	if d.receiver != nil {
		errs = append(errs, d.receiver.close())
	}
	if d.stack != nil {
		errs = append(errs, d.stack.Close())
	}
	if d.directory != "" {
		errs = append(errs, os.RemoveAll(d.directory))
	}
	return errors.Join(errs...)
}
