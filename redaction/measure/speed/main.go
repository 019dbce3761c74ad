// Command speed prints how fast redaction is: beside a plain copy of the same tokens, beside gitleaks as a library, and over
// the size of hostile documents. It is a module of its own: two hundred modules come with gitleaks, and none of them is
// needed for anything else.
//
// Figures are of processor time, all threads of the collector included, and the best of several runs that take turns: a
// machine that is busy with something else can only make a run slower.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/redrivehq/redrive/redaction"
	"github.com/redrivehq/redrive/redaction/measure"
)

const (
	size   = 64 << 10
	rounds = 9
)

// contender is one thing that is timed.
type contender struct {
	name   string
	bytes  int
	run    func()
	best   float64 // nanoseconds per byte
	allocs int64
	memory int64
}

func main() {
	testing.Init()
	if err := flag.Set("test.benchtime", "100ms"); err != nil {
		panic(err)
	}
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	benign, sensitive := measure.Benign(size), measure.Sensitive(size)
	redactor, err := redaction.Compile(redaction.Policy{MaxBytes: 64 << 20, MaxDecode: 1 << 30, MaxTokens: 1 << 30})
	if err != nil {
		return err
	}
	scanner, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return err
	}
	text := string(benign)
	var out bytes.Buffer
	contenders := []*contender{
		{name: "token copy", bytes: len(benign), run: func() { copyTokens(&out, benign) }},
		{name: "redaction, benign", bytes: len(benign), run: func() { redactor.Payload(benign) }},
		{name: "redaction, 20 values per 4 KiB", bytes: len(sensitive), run: func() { redactor.Payload(sensitive) }},
		{name: "gitleaks, benign", bytes: len(benign), run: func() { scanner.DetectString(text) }},
	}
	for range rounds {
		for _, c := range contenders {
			c.time()
		}
	}
	if err := write(w, contenders); err != nil {
		return err
	}
	return hostile(w, redactor)
}

// atLeast is the processor time of one run.
const atLeast = 200 * time.Millisecond

func (c *contender) time() {
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			c.run()
		}
	})
	c.allocs, c.memory = result.AllocsPerOp(), result.AllocedBytesPerOp()
	n := max(1, int(atLeast/max(time.Microsecond, time.Duration(result.NsPerOp()))))
	before := spent()
	for range n {
		c.run()
	}
	if each := float64(spent()-before) / float64(n) / float64(c.bytes); c.best == 0 || each < c.best {
		c.best = each
	}
}

// spent is the processor time of this process.
func spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func write(w io.Writer, all []*contender) error {
	out := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(out, "64 KiB\tMB per second\tof token copy\tallocations\tbytes allocated")
	for _, c := range all {
		fmt.Fprintf(out, "%s\t%.1f\t%.2f\t%d\t%d\n", c.name, 1000/c.best, all[0].best/c.best, c.allocs, c.memory)
	}
	fmt.Fprintf(out, "\nbenign, of token copy\t%.2f\tat least 0.50\n", all[0].best/all[1].best)
	fmt.Fprintf(out, "20 values per 4 KiB, of benign\t%.2f\tat least 0.25\n", all[1].best/all[2].best)
	fmt.Fprintf(out, "benign, of gitleaks\t%.1f\tat least 15\n\n", all[3].best/all[1].best)
	return out.Flush()
}

// hostile prints nanoseconds per byte over sizes: what is linear keeps its figure.
func hostile(w io.Writer, redactor *redaction.Redactor) error {
	sizes := []int{16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}
	out := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprint(out, "ns per byte")
	for _, n := range sizes {
		fmt.Fprintf(out, "\t%d KiB", n>>10)
	}
	fmt.Fprintln(out, "\toutcome")
	for _, h := range measure.Hostile() {
		fmt.Fprint(out, h.Name)
		outcome := ""
		for _, n := range sizes {
			in := h.Document(n)
			c := contender{bytes: len(in), run: func() { redactor.Payload(in) }}
			c.time()
			fmt.Fprintf(out, "\t%.0f", c.best)
			outcome = string(redactor.Payload(in).Report.Reason)
		}
		if outcome == "" {
			outcome = "redacted"
		}
		fmt.Fprintf(out, "\t%s\n", outcome)
	}
	return out.Flush()
}

func copyTokens(out *bytes.Buffer, in []byte) {
	out.Reset()
	decoder, encoder := jsontext.NewDecoder(bytes.NewBuffer(in)), jsontext.NewEncoder(out)
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = encoder.WriteToken(token)
		}
		if err != nil {
			panic(err)
		}
	}
}
