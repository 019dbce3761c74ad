package job

// Class says what went wrong, from a closed list. It is the type of every ApplicationError redrive returns.
type Class string

// The error classes.
const (
	ClassTransient          Class = "transient"
	ClassDependencyDown     Class = "dependency_down"
	ClassTimeout            Class = "timeout"
	ClassThrottled          Class = "throttled"
	ClassLeaseLost          Class = "lease_lost"
	ClassInvalidPayload     Class = "invalid_payload"
	ClassUnsupportedSchema  Class = "unsupported_schema"
	ClassRejected           Class = "rejected"
	ClassHandlerDefect      Class = "handler_defect"
	ClassUnknownJobType     Class = "unknown_job_type"
	ClassUnknownOutcome     Class = "unknown_outcome"
	ClassPayloadUnavailable Class = "payload_unavailable"
)

// Disposition is what redrive does about a class.
type Disposition string

// The dispositions.
const (
	Retry    Disposition = "retry"
	Throttle Disposition = "throttle"
	Poison   Disposition = "poison"
	Park     Disposition = "park"
)

// Need is what a replay of a dead letter of some class requires besides an actor, a reason and a live handler.
type Need string

// The needs.
const (
	NeedReason      Need = "reason"
	NeedRepair      Need = "repair"
	NeedReconcile   Need = "reconcile"
	NeedPayload     Need = "payload"
	NeedLiveHandler Need = "live_handler"
)

// classRule is one row of the table in DESIGN §4.
type classRule struct {
	class       Class
	disposition Disposition
	counted     bool
	need        Need
	severity    int // which class wins when one error carries several: the most final one
}

func classTable() []classRule {
	return []classRule{
		{ClassTransient, Retry, true, NeedReason, 1},
		{ClassDependencyDown, Retry, true, NeedReason, 2},
		{ClassTimeout, Retry, true, NeedReason, 2},
		{ClassLeaseLost, Retry, false, NeedRepair, 3},
		{ClassThrottled, Throttle, false, NeedReason, 4},
		{ClassUnknownJobType, Retry, false, NeedLiveHandler, 5},
		{ClassPayloadUnavailable, Park, false, NeedPayload, 6},
		{ClassInvalidPayload, Poison, true, NeedRepair, 7},
		{ClassUnsupportedSchema, Poison, true, NeedRepair, 7},
		{ClassRejected, Poison, true, NeedRepair, 7},
		{ClassHandlerDefect, Poison, true, NeedRepair, 7},
		{ClassUnknownOutcome, Park, true, NeedReconcile, 8},
	}
}

// AllClasses returns every error class.
func AllClasses() []Class {
	rules := classTable()
	all := make([]Class, 0, len(rules))
	for _, rule := range rules {
		all = append(all, rule.class)
	}
	return all
}

func (c Class) rule() classRule {
	for _, rule := range classTable() {
		if rule.class == c {
			return rule
		}
	}
	return classTable()[0]
}

// Known tells whether c is in the closed list.
func (c Class) Known() bool { return c.rule().class == c }

// Disposition returns what to do about c; an unknown class is treated as transient.
func (c Class) Disposition() Disposition { return c.rule().disposition }

// Counted tells whether a verdict of this class uses up one of the policy's attempts.
func (c Class) Counted() bool { return c.rule().counted }

// Need returns what a replay of such a dead letter requires.
func (c Class) Need() Need { return c.rule().need }

// Final tells whether a verdict of this class ends the job at once.
func (c Class) Final() bool { d := c.Disposition(); return d == Poison || d == Park }

// FinalClasses returns the classes that no retry can help, for RetryPolicy.NonRetryableErrorTypes.
func FinalClasses() []Class {
	var final []Class
	for _, c := range AllClasses() {
		if c.Final() {
			final = append(final, c)
		}
	}
	return final
}

// Cause says why a job was dead-lettered.
type Cause string

// The causes of dead-lettering.
const (
	CausePoison             Cause = "poison"
	CauseAttemptsSpent      Cause = "attempts_spent"
	CauseDeadlinePassed     Cause = "deadline_passed"
	CauseLeaseLosses        Cause = "lease_losses"
	CauseThrottledTooLong   Cause = "throttled_too_long"
	CauseUnknownOutcome     Cause = "unknown_outcome"
	CausePayloadUnavailable Cause = "payload_unavailable"
	CauseTerminated         Cause = "terminated"
)

// AllCauses returns every cause.
func AllCauses() []Cause {
	return []Cause{
		CausePoison, CauseAttemptsSpent, CauseDeadlinePassed, CauseLeaseLosses, CauseThrottledTooLong,
		CauseUnknownOutcome, CausePayloadUnavailable, CauseTerminated,
	}
}

// FinalCause returns the cause that a verdict of class c has by itself. It is meaningful for final classes only.
func (c Class) FinalCause() Cause {
	switch c {
	case ClassUnknownOutcome:
		return CauseUnknownOutcome
	case ClassPayloadUnavailable:
		return CausePayloadUnavailable
	default:
		return CausePoison
	}
}

// State is where a job stands.
type State string

// The job states.
const (
	StateRunning      State = "running"
	StateDeadLettered State = "dead_lettered"
	StateReplaying    State = "replaying"
	StateResolved     State = "resolved"
	StateCompleted    State = "completed"
	StateCanceled     State = "canceled"
	StateDiscarded    State = "discarded"
	StateExpired      State = "expired"
)

// AllStates returns every job state.
func AllStates() []State {
	return []State{
		StateRunning, StateDeadLettered, StateReplaying, StateResolved,
		StateCompleted, StateCanceled, StateDiscarded, StateExpired,
	}
}
