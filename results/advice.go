package results

import (
	"fmt"
	"math"
)

// advice gathers what is needed to say how many repeats a table takes. It is about one metric, the first that is added: the rate,
// where the table shows that. The largest number over all differences would be that of the metric with the widest tail,
// and with many differences that of the one whose noise looks largest by chance. So the noise of the metric is pooled over its differences.
type advice struct {
	metric    string
	paired    pooled
	separate  pooled // of two samples
	undecided bool   // one of the differences was tested and is not significant
	fewest    int    // repeats on a side of these
}

// pooled is the noise of several differences, each by its degrees of freedom, as a pooled variance is.
type pooled struct {
	square float64 // sum of the squares
	dof    int
}

func (p *pooled) add(n noise) {
	p.square, p.dof = p.square+float64(n.dof)*n.sd*n.sd, p.dof+n.dof
}

// repeats is how many find 10 %; 0 where no noise is known.
func (p pooled) repeats(paired bool, level float64) int {
	if p.square == 0 {
		return 0
	}
	return RepeatsToFind(advisedDifference, math.Sqrt(p.square/float64(p.dof)), p.dof, paired, level)
}

// add puts down a difference that a test could decide, with so many repeats on the side that has fewer.
func (a *advice) add(metric string, c Change, repeats int) {
	if a.metric == "" {
		a.metric = metric
	}
	if metric != a.metric || !c.Tested || c.noise.sd == 0 {
		return
	}
	if c.noise.paired {
		a.paired.add(c.noise)
	} else {
		a.separate.add(c.noise)
	}
	if !c.Significant {
		if a.fewest == 0 || repeats < a.fewest {
			a.fewest = repeats
		}
		a.undecided = true
	}
}

// text says how many repeats tell 10 % from the noise that was seen, or that these did.
func (a *advice) text(level float64) string {
	advised := max(a.paired.repeats(true, level), a.separate.repeats(false, level))
	switch {
	case !a.undecided || advised == 0:
		return ""
	case advised >= mostRepeats:
		return fmt.Sprintf("no sensible number of repeats tells 10 %% from the noise of %s here: longer cells, or a quieter machine", a.metric)
	case advised > a.fewest:
		return fmt.Sprintf("the noise of %s here needs `repeat: %d` to find a difference of 10 %% in 95 of 100 cases", a.metric, advised)
	}
	return fmt.Sprintf("the noise of %s here is small enough: a difference of 10 %% in it would have been found in 95 of 100 cases", a.metric)
}
