package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

// heart stands between the boundary and Temporal: it serves the details of an earlier attempt and keeps what is
// recorded, both encoded.
type heart struct {
	interceptor.WorkerInterceptorBase
	stored []any

	mu    sync.Mutex
	beats [][]json.RawMessage
	beat  chan struct{} // one token once something was recorded
}

func (h *heart) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	inbound := &heartInbound{heart: h}
	inbound.Next = next
	return inbound
}

type heartInbound struct {
	interceptor.ActivityInboundInterceptorBase
	heart *heart
}

func (i *heartInbound) Init(outbound interceptor.ActivityOutboundInterceptor) error {
	own := &heartOutbound{heart: i.heart}
	own.Next = outbound
	return i.Next.Init(own)
}

type heartOutbound struct {
	interceptor.ActivityOutboundInterceptorBase
	heart *heart
}

func (o *heartOutbound) RecordHeartbeat(_ context.Context, details ...any) {
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(details...)
	var beat []json.RawMessage
	for _, p := range payloads.GetPayloads() {
		beat = append(beat, p.GetData())
	}
	if err != nil {
		beat = []json.RawMessage{json.RawMessage(err.Error())}
	}
	o.heart.mu.Lock()
	defer o.heart.mu.Unlock()
	o.heart.beats = append(o.heart.beats, beat)
	select {
	case o.heart.beat <- struct{}{}:
	default:
	}
}

func (o *heartOutbound) HasHeartbeatDetails(context.Context) bool { return len(o.heart.stored) > 0 }

func (o *heartOutbound) GetHeartbeatDetails(_ context.Context, into ...any) error {
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(o.heart.stored...)
	if err != nil {
		return err
	}
	return converter.GetDefaultDataConverter().FromPayloads(payloads, into...)
}

// run executes one attempt whose heart h is, and returns the beats.
func (h *heart) run(t *testing.T, handle job.Handler[anyPayload]) [][]json.RawMessage {
	t.Helper()
	h.beat = make(chan struct{}, 1)
	boundary, err := activities.NewBoundary()
	require.NoError(t, err)
	f := newFixture(t, activities.RunnerOptions{}, handle)
	f.SetWorkerOptions(sdkworker.Options{Interceptors: []interceptor.WorkerInterceptor{h, boundary}})
	_, err = f.ExecuteActivity(string(orderType), assignment())
	require.NoError(t, err)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.beats
}

// wait returns once something was recorded after the call.
func (h *heart) wait(t *testing.T) {
	t.Helper()
	select {
	case <-h.beat: // of before
	default:
	}
	select {
	case <-h.beat:
	case <-time.After(10 * time.Second):
		t.Error("nothing was recorded within 10s")
	}
}

func TestHeartbeats(t *testing.T) {
	t.Parallel()
	stored := job.Report{Log: logged(2)}

	t.Run("CarryTheLogInFrontOfTheHandlersDetails", func(t *testing.T) {
		t.Parallel()
		h := &heart{stored: []any{stored}}
		beats := h.run(t, func(ctx context.Context, _ anyPayload) (any, error) {
			activity.RecordHeartbeat(ctx, "step-3", 7)
			h.wait(t)
			return nil, nil
		})
		last := beats[len(beats)-1]
		require.Len(t, last, 3, "the lease's own beats keep the handler's details")
		require.Equal(t, []string{`"step-3"`, `7`}, []string{string(last[1]), string(last[2])})
		var report job.Report
		require.NoError(t, json.Unmarshal(last[0], &report))
		require.Equal(t, logged(2), report.Log)
		require.Equal(t, &job.Running{Attempt: 1, Started: start, Worker: "4711@host-a", Version: build}, report.Running)
	})
	t.Run("AreReadBackWithoutTheLog", func(t *testing.T) {
		t.Parallel()
		h := &heart{stored: []any{stored, "step-3"}}
		h.run(t, func(ctx context.Context, _ anyPayload) (any, error) {
			var step string
			if !activity.HasHeartbeatDetails(ctx) || activity.GetHeartbeatDetails(ctx, &step) != nil || step != "step-3" {
				return nil, errors.New("got " + step)
			}
			return nil, nil
		})
	})
	t.Run("AreNoneWhenOnlyTheLogIsThere", func(t *testing.T) {
		t.Parallel()
		h := &heart{stored: []any{stored}}
		h.run(t, func(ctx context.Context, _ anyPayload) (any, error) {
			if activity.HasHeartbeatDetails(ctx) {
				return nil, errors.New("the handler recorded nothing")
			}
			return nil, nil
		})
	})
	t.Run("KeepTheProgressOfTheAttemptBefore", func(t *testing.T) {
		t.Parallel()
		h := &heart{stored: []any{stored, "step-3", 7}}
		beats := h.run(t, func(context.Context, anyPayload) (any, error) {
			h.wait(t)
			return nil, nil
		})
		for _, beat := range beats {
			require.Len(t, beat, 3, "a beat replaces what was stored: %s", beat)
			require.Equal(t, `"step-3"`, string(beat[1]))
		}
	})
}
