// Package handlers is where redrive's shipped handlers live, one package each.
//
// A handler does the work of one job type. Those here are written like a user's: they import package job and nothing of
// Temporal, SQL or the worker, so they serve as examples as well.
//
// What each of them promises:
//
//   - A Definition function that says how the handler is idempotent and what policy suits it.
//   - A payload type with a Validate method, so that a payload that does not fit is poison before anything happens.
//   - Each error has a class from job's closed list, or is transient; none quotes payload data.
//   - The attempt's context ends the work.
//
// The program registers them; this package holds no code.
package handlers
