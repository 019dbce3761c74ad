package job_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

func TestPrivacyPayloadBinding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		workflowID, binding string
		jobType             job.Type
	}{
		"Job":        {"job:email.send:order-1:a", "job:email.send:order-1:a", "email.send"},
		"ItsReplay":  {"replay:email.send:order-1:a", "job:email.send:order-1:a", "email.send"},
		"NoWorkflow": {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.binding, job.PayloadBinding(c.workflowID))
			bound, ok := job.BoundType(c.binding)
			require.Equal(t, c.jobType != "", ok)
			require.Equal(t, c.jobType, bound)
		})
	}
	t.Run("LongOnesAreBounded", func(t *testing.T) {
		t.Parallel()
		longType, longKey := strings.Repeat("t", 64), strings.Repeat("k", 175)
		binding := job.PayloadBinding("job:" + longType + ":" + longKey)
		require.LessOrEqual(t, len(binding), 96)
		require.Equal(t, binding, job.PayloadBinding("replay:"+longType+":"+longKey))
		require.NotEqual(t, binding, job.PayloadBinding("job:"+longType+":"+longKey+"k"))
		bound, ok := job.BoundType(binding)
		require.True(t, ok)
		require.EqualValues(t, longType, bound)
	})
	t.Run("AKeyCannotPoseAsADigest", func(t *testing.T) {
		t.Parallel()
		victim := job.PayloadBinding("job:a:" + strings.Repeat("k", 200))
		_, posing, _ := strings.Cut(victim, "job:a:")
		require.NotEqual(t, victim, job.PayloadBinding("job:a:"+posing))
	})
	t.Run("AnotherWorkflowIsNoJob", func(t *testing.T) {
		t.Parallel()
		binding := job.PayloadBinding("email.send:order-1")
		require.NotEqual(t, binding, job.PayloadBinding("job:email.send:order-1"))
		require.LessOrEqual(t, len(job.PayloadBinding(strings.Repeat("w", 900))), 96)
		_, ok := job.BoundType(binding)
		require.False(t, ok)
	})
}
