package activities

import (
	"encoding/json"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
)

// fitting cuts a scrubbed message to what a failure may carry. A payload codec encrypts it as JSON, in which a < takes six
// bytes; together with the report it must stay below what the server takes for a failure.
func fitting(message string) string { return cutJSON(message, job.MaxMessageBytes) }

// cutJSON cuts a text so that its JSON form takes at most limit bytes, quotes aside.
func cutJSON(text string, limit int) string {
	for allowed := limit; ; {
		cut := redaction.Truncate(text, allowed)
		encoded, err := json.Marshal(cut)
		excess := len(encoded) - len(`""`) - limit
		if err != nil || excess <= 0 { // a string always has a JSON form
			return cut
		}
		allowed = min(allowed, len(cut)) - max(excess/len(`\u003c`), 1)
	}
}
