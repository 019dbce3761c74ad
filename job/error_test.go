package job_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

var errPlain = errors.New("connection refused")

// endless unwraps to another of its kind for ever.
type endless struct{ depth int }

func (e endless) Error() string { return "endless" }
func (e endless) Unwrap() error { return endless{e.depth + 1} }

// cyclic unwraps to itself, twice.
type cyclic struct{}

func (c *cyclic) Error() string   { return "cyclic" }
func (c *cyclic) Unwrap() []error { return []error{c, c} }

// wild panics wherever it can, and cannot be compared.
type wild struct{ _ []func() }

func (wild) Error() string { panic("no text") }
func (wild) Unwrap() error { panic("no cause") }

// wildBranches panics where several causes are asked for.
type wildBranches struct{ wild }

func (wildBranches) Unwrap() []error { panic("no causes") }

func deep(err error, n int) error {
	for range n {
		err = fmt.Errorf("layer: %w", err)
	}
	return err
}

func TestClassify(t *testing.T) {
	t.Parallel()
	var nobody *job.Error
	for _, c := range []struct {
		name string
		err  error
		want job.Class
		wait time.Duration
	}{
		{"PlainIsTransient", errPlain, job.ClassTransient, 0},
		{"NilIsTransient", nil, job.ClassTransient, 0},
		{"Transient", job.Transient(errPlain), job.ClassTransient, 0},
		{"DependencyDown", job.DependencyDown(errPlain), job.ClassDependencyDown, 0},
		{"Throttled", job.Throttled(errPlain, time.Minute), job.ClassThrottled, time.Minute},
		{"InvalidPayload", job.InvalidPayload(errPlain), job.ClassInvalidPayload, 0},
		{"Rejected", job.Rejected(errPlain), job.ClassRejected, 0},
		{"HandlerDefect", job.HandlerDefect(errPlain), job.ClassHandlerDefect, 0},
		{"UnknownOutcome", job.UnknownOutcome(errPlain), job.ClassUnknownOutcome, 0},
		{"ThroughWrapping", fmt.Errorf("send: %w", job.Throttled(errPlain, time.Minute)), job.ClassThrottled, time.Minute},
		{"PoisonSecondInJoin", errors.Join(job.Transient(errPlain), job.Rejected(errPlain)), job.ClassRejected, 0},
		{"PoisonSecondInErrorf", fmt.Errorf("%w, %w", errPlain, job.Rejected(errPlain)), job.ClassRejected, 0},
		{"PoisonInsideTransient", job.Transient(job.Rejected(errPlain)), job.ClassRejected, 0},
		{"TransientInsidePoison", job.Rejected(job.Transient(errPlain)), job.ClassRejected, 0},
		{"UnknownOutcomeBeatsPoison", errors.Join(job.Rejected(errPlain), job.UnknownOutcome(errPlain)), job.ClassUnknownOutcome, 0},
		{"LongestWaitOfSeveral", errors.Join(job.Throttled(errPlain, time.Second), job.Throttled(errPlain, time.Hour)), job.ClassThrottled, time.Hour},
		{"Deep", deep(job.Rejected(errPlain), 200), job.ClassRejected, 0},
		{"DeepJoins", errors.Join(deep(errPlain, 200), deep(job.Rejected(errPlain), 200)), job.ClassRejected, 0},
		{"Endless", endless{}, job.ClassTransient, 0},
		{"EndlessBesidePoison", errors.Join(endless{}, deep(job.Rejected(errPlain), 10)), job.ClassRejected, 0},
		{"Cyclic", &cyclic{}, job.ClassTransient, 0},
		{"Wild", wild{}, job.ClassTransient, 0},
		{"WildBranches", wildBranches{}, job.ClassTransient, 0},
		{"WildBesidePoison", errors.Join(wild{}, wildBranches{}, job.Rejected(errPlain)), job.ClassRejected, 0},
		{"PoisonAroundWild", job.Rejected(wild{}), job.ClassRejected, 0},
		{"NilPointer", nobody, job.ClassTransient, 0},
		{"NilPointerBesidePoison", errors.Join(nobody, job.Rejected(errPlain)), job.ClassRejected, 0},
		{"UnknownClassIsSkipped", &job.Error{Class: "made_up", Err: job.Rejected(nil)}, job.ClassRejected, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			class, wait := job.Classify(c.err, nil)
			require.Equal(t, c.want, class)
			require.Equal(t, c.wait, wait)
		})
	}
}

func TestClassifyCustom(t *testing.T) {
	t.Parallel()
	always := func(c job.Class) func(error) job.Class { return func(error) job.Class { return c } }
	for _, c := range []struct {
		name   string
		err    error
		custom func(error) job.Class
		want   job.Class
	}{
		{"Asked", errPlain, always(job.ClassRejected), job.ClassRejected},
		{"NotAskedWhenClassified", job.Transient(errPlain), always(job.ClassRejected), job.ClassTransient},
		{"UnknownAnswerIsTransient", errPlain, always("made_up"), job.ClassTransient},
		{"EmptyAnswerIsTransient", errPlain, always(""), job.ClassTransient},
		{"PanicIsADefect", errPlain, func(error) job.Class { panic(secret) }, job.ClassHandlerDefect},
		{"PanicOfTheErrorIsADefect", wild{}, func(err error) job.Class { return job.Class(err.Error()) }, job.ClassHandlerDefect},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			class, _ := job.Classify(c.err, c.custom)
			require.Equal(t, c.want, class)
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	var nobody *job.Error
	const unreadable = "an error whose text could not be read"
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"OK", job.Rejected(errPlain), "rejected: connection refused"},
		{"ClassOnly", job.Rejected(nil), "rejected"},
		{"Nil", nil, ""},
		{"NilPointer", nobody, unreadable},
		{"Panics", wild{}, unreadable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, job.Text(c.err))
		})
	}
}
