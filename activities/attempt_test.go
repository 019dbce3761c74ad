package activities_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

type explosive struct{}

func (explosive) String() string { panic("String of a panic's value") }

type explosiveError struct{}

func (explosiveError) Error() string { panic("Error of an error") }

func chain(n int) error {
	err := error(job.Rejected(errors.New("the bottom")))
	for range n {
		err = fmt.Errorf("layer: %w", err)
	}
	return err
}

func panicking(p any) func() error { return func() error { panic(p) } }

func returning(err error) func() error { return func() error { return err } }

func writeNilMap() error {
	var m map[string]int
	m["a"] = 1 //lint:ignore SA5000 the defect under test
	return nil
}

func goexit() error {
	runtime.Goexit()
	return nil
}

func TestHostileHandlers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail  func() error
		class job.Class
	}{
		"panic with a string":               {panicking("boom"), job.ClassHandlerDefect},
		"panic whose String panics":         {panicking(explosive{}), job.ClassHandlerDefect},
		"panic whose Error panics":          {panicking(explosiveError{}), job.ClassHandlerDefect},
		"panic with a nil error pointer":    {panicking((*job.Error)(nil)), job.ClassHandlerDefect},
		"panic with 5 MB":                   {panicking(strings.Repeat("x ", 5<<19)), job.ClassHandlerDefect},
		"nil map write":                     {writeNilMap, job.ClassHandlerDefect},
		"runtime.Goexit":                    {goexit, job.ClassHandlerDefect},
		"error whose Error panics":          {returning(explosiveError{}), job.ClassTransient},
		"wrapped error whose Error panics":  {returning(job.Rejected(explosiveError{})), job.ClassRejected},
		"nil pointer as error":              {returning((*job.Error)(nil)), job.ClassTransient},
		"5 MB message":                      {returning(errors.New(strings.Repeat("x ", 5<<19))), job.ClassTransient},
		"5 MB message without a space":      {returning(errors.New(strings.Repeat("é", 5<<19))), job.ClassTransient},
		"200 layers":                        {returning(chain(200)), job.ClassRejected},
		"what JSON writes long":             {returning(errors.New(strings.Repeat("<", 4000))), job.ClassTransient},
		"invalid UTF-8":                     {returning(errors.New("a\xff\xfe\x00b" + strings.Repeat("\xc3", 4000))), job.ClassTransient},
		"context.Canceled without a cancel": {returning(context.Canceled), job.ClassTransient},
		"context.DeadlineExceeded":          {returning(context.DeadlineExceeded), job.ClassTransient},
		"temporal's canceled error":         {returning(temporal.NewCanceledError("no")), job.ClassTransient},
		"temporal's terminal error":         {returning(temporal.NewNonRetryableApplicationError("no", "DeadLettered", nil)), job.ClassTransient},
		"result pending":                    {returning(activity.ErrResultPending), job.ClassTransient},
		"a failure of its own":              {returning(&job.Failure{Class: "made-up", Message: strings.Repeat("x", 9000)}), job.ClassTransient},
		"joined":                            {returning(errors.Join(errors.New("plain"), job.Rejected(errors.New("no")))), job.ClassRejected},
		"unknown class":                     {returning(&job.Error{Class: "made-up"}), job.ClassTransient},
		"unknown outcome beats rejected": {
			returning(errors.Join(job.Rejected(nil), job.UnknownOutcome(nil))), job.ClassUnknownOutcome,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, activities.RunnerOptions{}, failing(c.fail))
			got := f.fail(t, assignment())
			require.Equal(t, c.class, got.Class, "message: %s", got.Message)
			require.NotEmpty(t, got.Message)
			require.Equal(t, c.class.Final(), got.Final)
			require.Equal(t, 1, got.Report.Log.Leases)
			require.Equal(t, build, got.Report.Version)
		})
	}
}

func TestHostileHandlerFitsTheServersLimitWithAFullLog(t *testing.T) {
	t.Parallel()
	for name, worst := range map[string]string{
		"ascii":         strings.Repeat("w", 300),
		"escaped":       strings.Repeat("<", 300),
		"multibyte":     strings.Repeat("é", 300),
		"invalid UTF-8": strings.Repeat("\xff", 300),
		"control":       strings.Repeat("\x01", 300),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, activities.RunnerOptions{Worker: worst, Version: worst[:job.MaxNameBytes]},
				failing(returning(errors.New(strings.Repeat("<\x01é x", 4000)))))
			var report job.Report
			for i := range 200 {
				report.Log = report.Log.Add(job.Attempt{
					Class: job.ClassPayloadUnavailable, Counted: true, Started: start.Add(1), Ran: 1<<62 + 1,
					Worker: worst, Version: fmt.Sprintf("%02d", i%8) + worst,
				})
			}
			f.SetHeartbeatDetails(report)
			got := f.fail(t, assignment())
			require.Equal(t, 201, got.Report.Log.Leases)
			require.Equal(t, 201, got.Report.Log.Counted)
		})
	}
}
