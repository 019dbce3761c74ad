package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/worker"
)

func sampleAttempt(ctx context.Context, t job.Type, number int) context.Context {
	return job.WithAttempt(ctx, job.AttemptInfo{ID: job.KeyID{Type: t, Key: "order-1001"}, Number: number})
}

func newOutbox(t *testing.T, version string) outbox {
	t.Helper()
	return outbox{path: filepath.Join(t.TempDir(), "outbox.jsonl"), version: version}
}

func (o outbox) lines(t *testing.T) []outboxLine {
	t.Helper()
	file, err := os.Open(o.path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	defer file.Close()
	var all []outboxLine
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var line outboxLine
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &line), scanner.Text())
		all = append(all, line)
	}
	return all
}

func parseEmail(t *testing.T, amount string) email {
	t.Helper()
	var mail email
	source := `{"to":"jo@shop.example","subject":"Paid","order_id":1001,"amount":` + amount + `}`
	require.NoError(t, json.Unmarshal([]byte(source), &mail))
	require.NoError(t, mail.Validate())
	return mail
}

func TestRegisterSamples(t *testing.T) {
	t.Parallel()
	var h worker.Handlers
	require.NoError(t, registerSamples(&h, "v1", func(string) string { return "" }))
	require.Equal(t, []job.Type{"demo.slow", "email.send", "webhook.deliver"}, h.Types())
	want := map[job.Type]job.Effects{
		"demo.slow": job.EffectsNone, "email.send": job.EffectsDownstream, "webhook.deliver": job.EffectsDownstream,
	}
	for _, jobType := range h.Types() {
		definition, ok := h.Definition(jobType)
		require.True(t, ok)
		require.Equal(t, want[jobType], definition.Effects, jobType)
	}
	require.ErrorIs(t, registerSamples(&h, "v1", func(string) string { return "" }), activities.ErrDuplicateHandler)
}

func TestEmailSend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, amount string
		refused         bool
	}{
		{"v1", `12.50`, false}, {"v1", `"12.50"`, true}, {"v2", `12.50`, false}, {"v2", `"12.50"`, false}, {"", `"17,90 EUR"`, false},
	} {
		t.Run(c.version+" "+c.amount, func(t *testing.T) {
			t.Parallel()
			box := newOutbox(t, c.version)
			sender := emailSender{outbox: box, version: c.version}
			_, err := sender.send(sampleAttempt(t.Context(), "email.send", 3), parseEmail(t, c.amount))
			if c.refused {
				class, _ := job.Classify(err, nil)
				require.Equal(t, job.ClassInvalidPayload, class)
				require.ErrorContains(t, err, `amount "12.50" of the mail to jo@shop.example`)
				require.Empty(t, box.lines(t))
				return
			}
			require.NoError(t, err)
			require.Equal(t, []outboxLine{{
				Key: "order-1001", Type: "email.send", Event: "sent", Attempt: 3, WorkerVersion: c.version, PID: os.Getpid(),
			}}, box.lines(t))
		})
	}
}

func TestEmailSendWithoutOutbox(t *testing.T) {
	t.Parallel()
	_, err := emailSender{version: "v2"}.send(sampleAttempt(t.Context(), "email.send", 1), parseEmail(t, `1`))
	require.NoError(t, err)
	_, err = emailSender{version: "v2"}.send(t.Context(), parseEmail(t, `1`))
	class, _ := job.Classify(err, nil)
	require.Equal(t, job.ClassHandlerDefect, class)
}

func TestSampleValidate(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`{"subject":"s","order_id":"1","amount":1}`:                `"to" is missing`,
		`{"to":"canary","order_id":"1","amount":1}`:                `"subject" is missing`,
		`{"to":"canary","subject":"s","amount":1}`:                 `"order_id" is missing`,
		`{"to":"canary","subject":"s","order_id":"1"}`:             `"amount" is missing`,
		`{"to":"canary","subject":"s","order_id":1,"amount":{}}`:   `"amount" is neither a number`,
		`{"to":"canary","subject":"s","order_id":1,"amount":null}`: `"amount" is neither a number`,
		`{"to":"canary","subject":"s","order_id":1,"amount":""}`:   `"amount" is neither a number`,
	} {
		var mail email
		require.NoError(t, json.Unmarshal([]byte(source), &mail))
		err := mail.Validate()
		require.ErrorContains(t, err, want, source)
		require.NotContains(t, err.Error(), "canary")
	}
	require.NoError(t, (&slow{Seconds: 0.5}).Validate())
	require.ErrorContains(t, (&slow{Seconds: -1}).Validate(), `"seconds" is -1, allowed are 0 to 3600`)
	require.Error(t, (&slow{Seconds: 3601}).Validate())
}

func TestSlow(t *testing.T) {
	t.Parallel()

	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		box := newOutbox(t, "v1")
		_, err := slowWorker{outbox: box}.work(sampleAttempt(t.Context(), "demo.slow", 2), slow{})
		require.NoError(t, err)
		line := outboxLine{Key: "order-1001", Type: "demo.slow", Attempt: 2, WorkerVersion: "v1", PID: os.Getpid()}
		started, finished := line, line
		started.Event, finished.Event = "started", "finished"
		require.Equal(t, []outboxLine{started, finished}, box.lines(t))
	})

	t.Run("Interrupted", func(t *testing.T) {
		t.Parallel()
		box := newOutbox(t, "v1")
		ctx, cancel := context.WithCancel(sampleAttempt(t.Context(), "demo.slow", 1))
		cancel()
		_, err := slowWorker{outbox: box}.work(ctx, slow{Seconds: maxSlowSeconds})
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, box.lines(t), 1)
		require.Equal(t, "started", box.lines(t)[0].Event)
	})
}

// TestOutboxLinesDoNotMix has many writers append at once, as several worker processes do.
func TestOutboxLinesDoNotMix(t *testing.T) {
	t.Parallel()
	box := newOutbox(t, "v1")
	var writers sync.WaitGroup
	for range 50 {
		writers.Go(func() { _ = box.record(sampleAttempt(context.Background(), "demo.slow", 1), "sent") })
	}
	writers.Wait()
	require.Len(t, box.lines(t), 50)
}
