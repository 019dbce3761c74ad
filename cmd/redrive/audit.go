package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

func newAudit(env *environment) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "audit", Short: "Show who saw payloads as they are, and who erased", Args: takes(),
		Long: `Show who saw payloads as they are, and who erased, newest first.

WHO is the credential, and in brackets who they said they are.`,
		Example: `  redrive audit
  redrive audit -o json | jq -r '.records[] | select(.action == "erase") | .targets[]'`,
	}
	cmd.Flags().IntVar(&limit, "limit", store.DefaultPage, "at most this many")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return env.withStore(cmd.Context(), func(db *store.DB) error {
			records, err := db.Audit(cmd.Context(), limit)
			if err != nil {
				return err
			}
			if records == nil {
				records = []job.AuditRecord{} // an empty list, not null
			}
			return env.print(struct {
				Records []job.AuditRecord `json:"records"`
			}{records}, func(w io.Writer) {
				if len(records) == 0 {
					fmt.Fprintln(w, "nothing was audited")
					return
				}
				rows(w, auditLines(records))
			})
		})
	}
	return cmd
}

func auditLines(records []job.AuditRecord) [][]string {
	lines := [][]string{{"AT", "WHO", "ACTION", "ITEMS", "OF", "FROM", "REASON"}}
	for _, r := range records {
		who := r.Credential
		if r.Actor != "" {
			who += " (" + r.Actor + ")"
		}
		lines = append(lines, []string{
			r.At.Format(time.RFC3339), who, string(r.Action), strconv.Itoa(r.Items), strings.Join(r.Targets, " "), orDash(r.From), r.Reason,
		})
	}
	return lines
}
