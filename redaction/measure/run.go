package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"text/tabwriter"

	"github.com/redrivehq/redrive/redaction"
)

// Row is what was measured of one class.
type Row struct {
	Class    string
	Tier     Tier
	Planted  int // values
	Missed   int // of which a part could be read afterwards
	Withheld int // in documents that were withheld whole
	Benign   int // twins
	Changed  int // of them that did not come out as they went in
	// Examples are the first misses and changes, for whoever wants to repair them.
	Examples []string
}

// Recall is the share of values that are gone.
func (r Row) Recall() float64 { return 1 - float64(r.Missed)/float64(max(1, r.Planted)) }

// LowRecall is the lower end of Wilson's 95 % interval.
func (r Row) LowRecall() float64 {
	if r.Planted == 0 {
		return 0
	}
	const z = 1.96
	n, p := float64(r.Planted), r.Recall()
	return (p + z*z/(2*n) - z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))) / (1 + z*z/n)
}

// Table is a whole measurement.
type Table struct {
	Rows []Row
	// Invalid counts outputs that were no JSON, Unstable those that changed when they were redacted again, or differed
	// between two runs.
	Invalid, Unstable int
}

const maxExamples = 3

// Run measures one redactor with count values per class, surface and disguise.
func Run(r *redaction.Redactor, seed uint64, count int) Table {
	var table Table
	for _, class := range Classes() {
		rng := rand.New(rand.NewPCG(seed, uint64(len(class.Name))))
		row := Row{Class: class.Name, Tier: class.Tier}
		for _, s := range surfaces() {
			for _, d := range disguises() {
				if !d.fits(class) || (s.encodes && d.name != "none") {
					continue
				}
				for range count {
					table.plant(r, &row, class, s, d, class.Make(rng))
				}
			}
			for range count {
				table.twin(r, &row, s, class.Twin(rng))
			}
		}
		table.Rows = append(table.Rows, row)
	}
	return table.benign(r, seed, count)
}

// benign measures what is no twin of one class but usual in payloads.
func (t Table) benign(r *redaction.Redactor, seed uint64, count int) Table {
	for i, kind := range benignKinds() {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		row := Row{Class: "benign: " + kind.name, Tier: "-"}
		for _, s := range surfaces() {
			for range count {
				t.twin(r, &row, s, kind.make(rng))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (t *Table) plant(r *redaction.Redactor, row *Row, class Class, s surface, d disguise, value string) {
	shown := d.apply(value)
	in := s.wrap(class, fmt.Sprintf(class.Context, shown), shown)
	out := t.redact(r, s, in)
	row.Planted++
	if strings.HasPrefix(out, `{"redrive":"withheld"`) {
		row.Withheld++
	}
	if part := Leak(out, value); part != "" {
		row.Missed++
		row.example("miss", s.name+", "+d.name, in, out)
	}
}

// twin changes nothing, in no surface.
func (t *Table) twin(r *redaction.Redactor, row *Row, s surface, value string) {
	in := s.wrap(Class{Key: "ref", Context: "%s"}, "ref "+value, value)
	row.Benign++
	if out := t.redact(r, s, in); out != in {
		row.Changed++
		row.example("change", s.name, in, out)
	}
}

func (r *Row) example(kind, where, in, out string) {
	if len(r.Examples) < maxExamples {
		r.Examples = append(r.Examples, fmt.Sprintf("%s in %s:\n  in  %s\n  out %s", kind, where, in, out))
	}
}

// redact checks what holds for every output on the way.
func (t *Table) redact(r *redaction.Redactor, s surface, in string) string {
	if s.text {
		out := r.Text(in, redaction.Taint{})
		if r.Text(out, redaction.Taint{}) != out || r.Text(in, redaction.Taint{}) != out {
			t.Unstable++
		}
		return out
	}
	out := r.Payload([]byte(in)).JSON
	if !json.Valid(out) {
		t.Invalid++
	}
	if string(r.Payload(out).JSON) != string(out) || string(r.Payload([]byte(in)).JSON) != string(out) {
		t.Unstable++
	}
	return string(out)
}

// Totals sums the rows of a tier, or of all when it is empty.
func (t Table) Totals(tier Tier) Row {
	total := Row{Class: "all", Tier: tier}
	for _, row := range t.Rows {
		if tier == "" || row.Tier == tier {
			total.Planted += row.Planted
			total.Missed += row.Missed
			total.Withheld += row.Withheld
			total.Benign += row.Benign
			total.Changed += row.Changed
		}
	}
	return total
}

// Write prints the table.
func (t Table) Write(w io.Writer) error {
	out := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(out, "class\ttier\tvalues\tmissed\trecall\t95 % at least\tbenign\tchanged")
	for _, row := range append(t.Rows, t.Totals(TierA), t.Totals(TierB), t.Totals(TierC), t.Totals("")) {
		if row.Planted == 0 {
			fmt.Fprintf(out, "%s\t\t\t\t\t\t%d\t%d\n", row.Class, row.Benign, row.Changed)
			continue
		}
		fmt.Fprintf(out, "%s\t%s\t%d\t%d\t%.4f\t%.4f\t%d\t%d\n", row.Class, row.Tier, row.Planted, row.Missed, row.Recall(), row.LowRecall(), row.Benign, row.Changed)
	}
	return out.Flush()
}
