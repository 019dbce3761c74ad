package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/workflows"
)

// Worker polls the task queues of one process.
type Worker struct {
	client   *Client
	options  Options
	policies job.Policies
	boundary *activities.Boundary
	suspects *activities.Suspects
	pollers  []poller
	fatal    chan error // the first error that ended a poller
	stops    []func()   // what ends with the pollers, set by Start
}

type poller struct {
	queue  string
	worker sdkworker.Worker
}

// New prepares a worker; nothing is polled before Run. Errors wrap ErrInvalidOptions or name the policy at fault.
func New(c *Client, options Options) (*Worker, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	boundary, err := activities.NewBoundary()
	if err != nil {
		return nil, err
	}
	w := &Worker{client: c, options: options, boundary: boundary, suspects: activities.NewSuspects(), fatal: make(chan error, 1)}
	if options.Policies != nil {
		if w.policies, err = options.policies(); err != nil {
			return nil, err
		}
		if err := w.addStore(); err != nil {
			return nil, err
		}
		w.addWorkflows()
	}
	for _, t := range options.Handlers.Types() {
		if err := w.addLane(t); err != nil {
			return nil, err
		}
	}
	w.warnOptions()
	return w, nil
}

// warnOptions says what is allowed and will surprise somebody.
func (w *Worker) warnOptions() {
	types := w.options.Handlers.Types()
	if len(types) > 0 && w.options.HandlerVersion == Unversioned {
		w.options.Logger.Warn("handler version is unversioned: a replay cannot tell this build from a repaired one; " +
			"set Options.HandlerVersion (redrive worker: --handler-version or REDRIVE_HANDLER_VERSION)")
	}
	for _, t := range types {
		if d, _ := w.options.Handlers.Definition(t); w.options.Policies == nil && !d.Policy.WithoutRedaction().IsZero() {
			w.options.Logger.Warn("policy of a handler is not used: this worker holds no policies, so the workers that do decide about leases and retries",
				zap.String("job_type", string(t)))
		}
	}
}

// Queues returns the task queues this worker polls.
func (w *Worker) Queues() []string {
	queues := make([]string, 0, len(w.pollers))
	for _, p := range w.pollers {
		queues = append(queues, p.queue)
	}
	return queues
}

// sdkOptions are common to all queues. Eager activities are off: they bypass queue limits and priorities. The
// heartbeat throttle is short, because the default (0.8 of the lease) loses the lease with one lost call.
func (w *Worker) sdkOptions() sdkworker.Options {
	return sdkworker.Options{
		Identity:                                w.options.Identity,
		WorkerStopTimeout:                       w.options.Drain + activities.HandBackTime,
		DisableEagerActivities:                  true,
		DefaultHeartbeatThrottleInterval:        time.Second,
		MaxHeartbeatThrottleInterval:            time.Second,
		MaxConcurrentActivityExecutionSize:      w.options.MaxConcurrent,
		Interceptors:                            []interceptor.WorkerInterceptor{w.boundary},
		DisableRegistrationAliasing:             true,
		MaxConcurrentWorkflowTaskPollers:        4,
		MaxConcurrentActivityTaskPollers:        2,
		MaxConcurrentLocalActivityExecutionSize: 2,
	}
}

func (w *Worker) add(queue string, options sdkworker.Options) sdkworker.Worker {
	options.OnFatalError = func(err error) { w.failed(queue, err) }
	added := sdkworker.New(w.client.Client, queue, options)
	w.pollers = append(w.pollers, poller{queue: queue, worker: added})
	return added
}

// failed takes in the error that ended a poller: the SDK gives up after two minutes of an answer that no retry mends.
func (w *Worker) failed(queue string, err error) {
	select {
	case w.fatal <- fmt.Errorf("poll %s: %w", queue, err):
	default: // one is enough to stop for
	}
}

func (w *Worker) addWorkflows() {
	story := workflows.New(w.policies, w.options.Observer)
	options := w.sdkOptions()
	options.Interceptors = append(options.Interceptors, &workflows.Gate{})
	added := w.add(job.QueueWorkflows, options)
	added.RegisterWorkflowWithOptions(story.Job, workflow.RegisterOptions{Name: job.WorkflowJob})
	added.RegisterWorkflowWithOptions(story.Replay, workflow.RegisterOptions{Name: job.WorkflowReplay})
}

func (w *Worker) addStore() error {
	effects, _ := w.options.Ledger.(activities.Settler)
	letters, err := activities.NewDeadLetters(activities.DeadLettersOptions{
		Client: w.client.Client, DataConverter: w.client.dataConverter, Store: w.options.Store, Vault: w.options.Vault, Effects: effects,
		Policies: w.policies, Namespace: w.client.namespace, Registry: w.options.Handlers,
		Observer: w.options.Observer, Logger: w.options.Logger,
	})
	if err != nil {
		return err
	}
	options := w.sdkOptions()
	options.DisableWorkflowWorker = true
	added := w.add(job.QueueStore, options)
	for name, function := range map[string]any{
		job.ActivityRecordDeath:  letters.RecordDeath,
		job.ActivityLoadParked:   letters.LoadParked,
		job.ActivitySaveRequest:  letters.SaveRequest,
		job.ActivitySaveReplay:   letters.SaveReplay,
		job.ActivityDescribeJob:  letters.DescribeJob,
		job.ActivityFindEffect:   letters.FindEffect,
		job.ActivitySettleEffect: letters.SettleEffect,
		job.ActivityOpenRequest:  letters.OpenRequest,
	} {
		added.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
	}
	return nil
}

func (w *Worker) addLane(t job.Type) error {
	options := activities.RunnerOptions{
		Version: w.options.HandlerVersion, Worker: w.options.Identity, Drain: w.options.Drain,
		Payloads: w.options.Payloads, Heartbeats: w.client.Client, Suspects: w.suspects, Ledger: w.options.Ledger,
		DataConverter: w.client.dataConverter, Encrypted: w.client.Encrypts(), Observer: w.options.Observer, Logger: w.options.Logger,
	}
	if w.options.Policies != nil {
		rules := w.policies.For(t).Redaction
		options.Redaction = &rules
	}
	runner, err := w.options.Handlers.Runner(t, options)
	if err != nil {
		return err
	}
	w.listen(t, runner)
	return nil
}

// listen adds the lane of a handler and, beside it, the control queue of its probes.
func (w *Worker) listen(t job.Type, runner *activities.Runner) {
	options := w.sdkOptions()
	options.DisableWorkflowWorker = true
	// Histories then say which build completed an activity. It changes nothing about who gets the work.
	options.DeploymentOptions.Version = sdkworker.WorkerDeploymentVersion{DeploymentName: "redrive", BuildID: w.options.HandlerVersion}
	w.add(t.Lane(), options).RegisterActivityWithOptions(runner.Run, activity.RegisterOptions{Name: string(t)})
	options.MaxConcurrentActivityTaskPollers = 1
	probe := activities.Probe{Version: w.options.HandlerVersion, Payloads: w.options.Payloads != nil}
	w.add(t.ControlQueue(), options).RegisterActivityWithOptions(
		probe.Handler, activity.RegisterOptions{Name: job.ActivityProbeHandler})
}

// Run polls until ctx ends or a poller fails, then drains: no new work, and running handlers get the drain time. What
// does not finish is handed back, uncounted. The error is the failed poller's, such as a namespace that is gone: a queue
// that nobody polls any more must not look like a worker that runs.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.Start(ctx); err != nil {
		return err
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-w.fatal:
	}
	w.Stop()
	return err
}

// Start begins to poll. When a queue cannot be polled, the others are stopped and the error names it.
func (w *Worker) Start(ctx context.Context) error {
	if w.options.Policies != nil {
		w.sayRetention(ctx)
	}
	for i, p := range w.pollers {
		if err := p.worker.Start(); err != nil {
			stopAll(w.pollers[:i])
			return fmt.Errorf("poll %s: %w", p.queue, err)
		}
	}
	if ledger, ok := w.options.Ledger.(Purger); ok && w.options.Policies != nil {
		w.stops = append(w.stops, purge{ledger, w.options.PurgeEvery, time.Now, w.options.Logger}.start())
	}
	w.options.Logger.Info("worker polling", zap.Strings("queues", w.Queues()),
		zap.String("handler_version", w.options.HandlerVersion), zap.String("identity", w.options.Identity))
	return nil
}

// Stop drains all queues at once and returns when they are quiet.
func (w *Worker) Stop() {
	for _, stop := range w.stops {
		stop()
	}
	stopAll(w.pollers)
}

func stopAll(pollers []poller) {
	var all sync.WaitGroup
	for _, p := range pollers {
		all.Add(1)
		go func() {
			defer all.Done()
			p.worker.Stop()
		}()
	}
	all.Wait()
}
