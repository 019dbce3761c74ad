package job

import (
	"context"
	"strings"
	"time"
)

// Limits of the attempt log. Encoded it stays below 2 KiB, so that it fits into a failure's details twice over: the
// server replaces failures above 4 KiB.
const (
	maxLogEntries  = 7
	maxLogVersions = 8
	maxNameBytes   = 40
)

// Attempt is one entry of the log: a lease that was granted, and how it ended.
type Attempt struct {
	// Seq rises by one per entry for ever. Temporal's own attempt number does not: an operator's reset sets it to 1.
	Seq     int           `json:"n"`
	Class   Class         `json:"class"`
	Counted bool          `json:"counted,omitempty"`
	Started time.Time     `json:"at"`
	Ran     time.Duration `json:"ns"` // nanoseconds; an upper bound for a lost lease
	Worker  string        `json:"worker,omitempty"`
	Version string        `json:"version,omitempty"`
	Sole    bool          `json:"sole,omitempty"` // lost as the only suspect of its process
}

// AttemptLog is what the attempts of one run have left behind. It travels from attempt to attempt in Temporal's
// heartbeat details and is bounded: the counters are exact, Entries holds the first and the latest.
type AttemptLog struct {
	Leases    int       `json:"leases"`              // leases that left a trace
	Counted   int       `json:"counted"`             // attempts that ended in a handler verdict
	Throttled int       `json:"throttled,omitempty"` // attempts that ended in throttling
	Lost      int       `json:"lost,omitempty"`      // leases lost while the handler ran
	LostInRow int       `json:"lost_in_row,omitempty"`
	LostSole  int       `json:"lost_sole,omitempty"` // lost as the only suspect of a process: these count against the job
	Entries   []Attempt `json:"entries,omitempty"`
	// Versions are the handler builds that gave a counted verdict or lost a lease, oldest first.
	Versions []string `json:"versions,omitempty"`
	// ThrottledSince is when the present unbroken row of throttlings began.
	ThrottledSince *time.Time `json:"throttled_since,omitempty"`
}

// Add returns the log with a appended and the counters moved. It leaves l as it was.
func (l AttemptLog) Add(a Attempt) AttemptLog {
	l.Leases++
	a.Seq = l.Leases
	a.Worker, a.Version = logName(a.Worker), logName(a.Version)
	a.Sole = a.Sole && a.Class == ClassLeaseLost
	a.Started = a.Started.UTC().Truncate(time.Millisecond)
	switch {
	case a.Class == ClassThrottled:
		l.Throttled++
		if l.ThrottledSince == nil {
			since := a.Started
			l.ThrottledSince = &since
		}
	case a.Class == ClassLeaseLost:
		l.Lost++
		l.LostInRow++
		if a.Sole {
			l.LostSole++
		}
	case a.Counted:
		l.Counted++
	}
	if a.Class != ClassLeaseLost {
		l.LostInRow = 0
	}
	if a.Class != ClassThrottled {
		l.ThrottledSince = nil
	}
	if a.Counted || a.Class == ClassLeaseLost {
		l.Versions = addVersion(l.Versions, a.Version)
	}
	l.Entries = append(append([]Attempt(nil), l.Entries...), a)
	if len(l.Entries) > maxLogEntries {
		l.Entries = append(l.Entries[:1:1], l.Entries[len(l.Entries)-maxLogEntries+1:]...)
	}
	return l
}

// suspectAfter is how many leases in a row a job loses while running before it may be what kills its workers.
const suspectAfter = 2

// Suspect tells whether the job's latest attempts were all lost while running. A process runs one suspect at a time, so
// that the guilty one is found and those that merely ran beside it are not blamed.
func (l AttemptLog) Suspect() bool { return l.LostInRow >= suspectAfter }

func addVersion(versions []string, v string) []string {
	kept := make([]string, 0, len(versions)+1)
	for _, old := range versions {
		if old != v {
			kept = append(kept, old)
		}
	}
	if v != "" {
		kept = append(kept, v)
	}
	if len(kept) > maxLogVersions {
		kept = kept[len(kept)-maxLogVersions:]
	}
	return kept
}

// logName is how a worker or a version is named in the log: itself when it is short and costs JSON a byte per
// character, else its beginning and a digest, so that two names stay two. Applied twice it changes nothing.
func logName(s string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) {
			return '_'
		}
		return r
	}, s)
	if plain == s && len(s) <= maxNameBytes {
		return s
	}
	digest := digestName(s)[:10]
	return plain[:min(len(plain), maxNameBytes-1-len(digest))] + "~" + digest
}

// Running is what a heartbeat says about the lease it extends. One that is found by a later attempt, without a verdict
// in the log, is a lease loss.
type Running struct {
	Attempt int       `json:"attempt"` // Temporal's number
	Started time.Time `json:"at"`
	Worker  string    `json:"worker,omitempty"`
	Version string    `json:"version,omitempty"`
	Waiting bool      `json:"waiting,omitempty"` // a suspect whose turn has not come: its handler does not run
	Sole    bool      `json:"sole,omitempty"`    // a suspect whose turn it is
}

// Lost is the log's entry for a lease that was lost while the handler ran; at is when that was found out.
func (r Running) Lost(at time.Time) Attempt {
	return Attempt{
		Class: ClassLeaseLost, Started: r.Started, Ran: max(0, at.Sub(r.Started)), Worker: r.Worker, Version: r.Version, Sole: r.Sole,
	}
}

// Report is the one structure that crosses Temporal beside a failure's class and message: in heartbeat details from
// attempt to attempt, and in the details of the ApplicationError from the last attempt to the workflow.
type Report struct {
	Log     AttemptLog `json:"log"`
	Running *Running   `json:"running,omitempty"` // heartbeats only
	Attempt int        `json:"attempt,omitempty"` // Temporal's number of the attempt whose end this is; not in heartbeats
	// NotBefore is when the next attempt may start, by the server's clock; zero is at once. A server under load can dispatch
	// a task twice, and what was left of the first then starts the next attempt without its backoff.
	NotBefore time.Time `json:"not_before,omitzero"`
	// The rest describes a verdict.
	Cause       Cause  `json:"cause,omitempty"` // set when this verdict ends the job
	Fingerprint string `json:"fingerprint,omitempty"`
	Version     string `json:"version,omitempty"`
	HandedBack  string `json:"handed_back,omitempty"` // why an attempt was returned uncounted: version, shutdown
	HandBacks   int    `json:"hand_backs,omitempty"`  // how many of these in a row met the vault, the ledger or a queue in their way
}

// HandedBackNoVault is Report.HandedBack of a worker that cannot open payload references, and so runs no replay.
const HandedBackNoVault = "no_vault"

// Failure is the verdict of an attempt, or of the workflow when no attempt gave one. Message is scrubbed and at most
// MaxMessageBytes long.
type Failure struct {
	Class   Class
	Message string
	Report  Report
	// Delay is how long Temporal waits before the next attempt; it has no meaning when Final is set.
	Delay time.Duration
	// Final tells Temporal not to retry.
	Final bool
	// Progress is what the handler left for the attempt after this one. It travels beside the report to that attempt, and
	// not to the workflow.
	Progress []any
	// Benign keeps an uncounted hand-back out of the failure metrics.
	Benign bool
}

// MaxMessageBytes bounds a failure's message, as JSON writes it, so that message and report stay below the server's 4 KiB.
const MaxMessageBytes = 1 << 10

// Error returns class and message.
func (f *Failure) Error() string { return string(f.Class) + ": " + f.Message }

// AttemptInfo is what a handler may know about the attempt it runs in.
type AttemptInfo struct {
	ID            KeyID
	SchemaVersion int
	Number        int // Temporal's number: every lease granted since the last reset, from 1
	Replay        int // which replay this is; 0 for the original run
	Version       string
	Tags          []string
}

type attemptKey struct{}

// WithAttempt returns ctx carrying info; the attempt runner calls it, and tests of handlers may.
func WithAttempt(ctx context.Context, info AttemptInfo) context.Context {
	return context.WithValue(ctx, attemptKey{}, info)
}

// AttemptFrom returns what ctx says of the running attempt; ok is false outside a handler.
func AttemptFrom(ctx context.Context) (info AttemptInfo, ok bool) {
	info, ok = ctx.Value(attemptKey{}).(AttemptInfo)
	return info, ok
}
