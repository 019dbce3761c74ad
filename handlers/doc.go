// Package handlers is where redrive's shipped handlers live, one package each. They are written like a user's: they
// know package job and nothing of Temporal, so they also serve as examples.
package handlers
