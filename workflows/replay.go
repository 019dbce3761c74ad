package workflows

import (
	"encoding/json"
	"strings"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/job"
)

// Replay is the wait of one dead letter for its operator. It takes requests by signal and by update, answers each
// exactly once, runs at most one replay at a time, and does nothing on its own. It ends when the dead letter is
// resolved or discarded; canceled, it leaves the record, and the next request starts it again.
func (w *Workflows) Replay(ctx workflow.Context, in job.ReplayInput) (job.Parked, error) {
	run, err := newReplayRun(ctx, in)
	if err != nil {
		return job.Parked{}, err
	}
	run.refused = func() { w.observe(ctx, run.parked.ID.Type, job.PrivacyRequestRefused) }
	return run.run(ctx)
}

// incoming is a request that waits for its decision. answer is nil for a signal.
type incoming struct {
	kind    job.RequestKind
	raw     []byte
	sealed  bool   // raw is ciphertext that has to be opened first
	refusal string // why raw is nothing that may be read
	answer  workflow.Settable
}

// signal is a signal channel and the kind of request it carries.
type signal struct {
	kind    job.RequestKind
	channel workflow.ReceiveChannel
}

// replayRun is one run of Replay. Activities use the disconnected context: a cancel must not leave a decision half
// recorded.
type replayRun struct {
	ctx      workflow.Context
	parked   job.Parked
	selector workflow.Selector
	updates  workflow.Channel
	signals  []signal
	failed   workflow.ReceiveChannel
	refused  func() // counts a request that is nothing that may be read
	canceled bool
	findable bool // the open replay's run has begun: another run of this workflow would find it and follow it
	forged   bool // started under a workflow ID that is not the dead letter's
	stale    bool // the key failed in another run while a replay was open: load again when it is over
	err      error
}

func newReplayRun(ctx workflow.Context, in job.ReplayInput) (*replayRun, error) {
	disconnected, _ := workflow.NewDisconnectedContext(ctx)
	started := workflow.GetInfo(ctx).WorkflowExecution.ID
	r := &replayRun{
		ctx:      disconnected,
		parked:   job.Parked{DeadLetterID: in.DeadLetterID, ID: in.ID},
		forged:   started != in.ID.ReplayWorkflowID(),
		selector: workflow.NewSelector(ctx),
		updates:  workflow.NewBufferedChannel(ctx, 1000),
		failed:   workflow.GetSignalChannel(ctx, job.SignalFailed),
	}
	err := workflow.SetQueryHandler(ctx, job.QueryState, func() (job.Parked, error) { return r.parked, nil })
	if err != nil {
		return nil, err
	}
	for _, kind := range job.AllRequestKinds() {
		if err := r.accept(ctx, kind); err != nil {
			return nil, err
		}
	}
	r.selector.AddReceive(r.updates, func(c workflow.ReceiveChannel, _ bool) {
		var request incoming
		c.Receive(ctx, &request)
		r.handle(request)
	})
	r.selector.AddReceive(r.failed, func(c workflow.ReceiveChannel, _ bool) { r.handleFailure(c) })
	r.selector.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) { r.canceled = true })
	return r, nil
}

// accept opens the two doors for a kind of request. Both take the raw value, so that a malformed request is recorded
// as refused instead of dropped by the decoder.
func (r *replayRun) accept(ctx workflow.Context, kind job.RequestKind) error {
	channel := workflow.GetSignalChannel(ctx, string(kind))
	r.signals = append(r.signals, signal{kind, channel})
	r.selector.AddReceive(channel, func(c workflow.ReceiveChannel, _ bool) {
		var raw converter.RawValue
		c.Receive(ctx, &raw)
		r.handle(read(kind, raw))
	})
	return workflow.SetUpdateHandler(ctx, string(kind), func(ctx workflow.Context, raw converter.RawValue) (job.Decision, error) {
		future, answer := workflow.NewFuture(ctx)
		in := read(kind, raw)
		in.answer = answer
		r.updates.Send(ctx, in)
		var decision job.Decision
		err := future.Get(ctx, &decision)
		return decision, err
	})
}

func (r *replayRun) run(ctx workflow.Context) (job.Parked, error) {
	if err := r.load(); err != nil {
		return r.parked, err
	}
	for r.err == nil {
		switch {
		case r.canceled:
			r.drain()
			return r.parked, temporal.NewCanceledError()
		case r.selector.HasPending():
		case r.closed() && workflow.AllHandlersFinished(ctx):
			return r.parked, nil
		case r.movable() && workflow.GetInfo(ctx).GetContinueAsNewSuggested() && workflow.AllHandlersFinished(ctx):
			return r.parked, workflow.NewContinueAsNewError(ctx, job.WorkflowReplay, job.ReplayInput{
				DeadLetterID: r.parked.DeadLetterID, ID: r.parked.ID,
			})
		}
		r.selector.Select(ctx)
	}
	return r.parked, r.err
}

// movable tells whether another run of this workflow could take over: it loads what the store knows. A replay in
// between, recorded and not yet begun, would be taken for one that never began.
func (r *replayRun) movable() bool { return r.parked.Open == nil || r.findable }

// drain answers what arrived before a cancel took effect; unread signals would vanish with the run.
func (r *replayRun) drain() {
	for _, s := range r.signals {
		var raw converter.RawValue
		for s.channel.ReceiveAsync(&raw) {
			r.handle(read(s.kind, raw))
			raw = converter.RawValue{}
		}
	}
	var request incoming
	for r.updates.ReceiveAsync(&request) {
		r.handle(request)
	}
	r.fail(workflow.Await(r.ctx, func() bool { return workflow.AllHandlersFinished(r.ctx) }))
}

// closed tells whether nothing more can happen to the dead letter; an id that the store does not know has no state.
func (r *replayRun) closed() bool {
	return r.parked.State != job.StateDeadLettered && r.parked.State != job.StateReplaying
}

// load takes the state from the projection, and follows a replay that an earlier, lost Replay had begun.
func (r *replayRun) load() error {
	if r.forged {
		return nil // no state: whatever it was asked is refused, and it closes
	}
	in := job.ReplayInput{DeadLetterID: r.parked.DeadLetterID, ID: r.parked.ID}
	var fresh job.Parked // decoding into the old state would keep what is absent now
	if err := workflow.ExecuteActivity(storeOptions(r.ctx), job.ActivityLoadParked, in).Get(r.ctx, &fresh); err != nil {
		return err
	}
	r.parked, r.stale = fresh, false
	if r.parked.Open != nil {
		r.follow(*r.parked.Open)
	}
	return r.show()
}

// show tells people where the dead letter stands; nothing decides by it.
func (r *replayRun) show() error {
	if r.parked.State == "" {
		return nil
	}
	workflow.SetCurrentDetails(r.ctx, r.parked.Details+"\n\n"+statusLine(r.parked))
	return upsertState(r.ctx, r.parked.ID.Type, r.parked.State, r.parked.Current)
}

func statusLine(p job.Parked) string {
	line := "Now: **" + string(p.State) + "**"
	if p.Last != nil {
		line += "; last replay by " + code(p.Last.Actor) + " ended as " + string(p.Last.Outcome)
	}
	if p.State == job.StateDeadLettered && len(p.Unsettled) > 0 {
		line += "; to be reconciled: " + code(strings.Join(p.Unsettled, ", "))
	}
	if p.State == job.StateDeadLettered && !p.NotBefore.IsZero() {
		line += "; no replay before " + p.NotBefore.UTC().Format(time.RFC3339)
	}
	return line + "."
}

// code makes operator-supplied text inert in the markdown that the Web UI renders.
func code(s string) string {
	clean := make([]rune, 0, len(s))
	for _, c := range s {
		if c == '`' || c < ' ' {
			c = ' '
		}
		clean = append(clean, c)
	}
	return "`" + string(clean) + "`"
}

// handleFailure takes in a failure of the same key in a run that no operator asked for. It takes the raw value: one that
// does not decode would make Receive drop it and wait for the next, and requests would wait behind it.
func (r *replayRun) handleFailure(c workflow.ReceiveChannel) {
	var raw converter.RawValue
	c.Receive(r.ctx, &raw)
	in := read("", raw)
	if in.refusal != "" {
		r.refused()
		return
	}
	var d job.DeadLettered
	switch err := json.Unmarshal(in.raw, &d); {
	case !in.sealed && (err != nil || d.DeadLetterID != r.parked.DeadLetterID): // not a job's signal; what is sealed may be one
	case r.parked.Open != nil:
		r.stale = true // an open replay's own run reports through its result; this one was another's
	default:
		r.fail(r.load())
	}
}
