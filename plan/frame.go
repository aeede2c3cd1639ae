package plan

// Frame is what stands beside the kind of a step and is not part of the plan's structure.
type Frame struct {
	Timeout         Duration `key:"timeout" default:"0" doc:"how long the step may take, tries included; 0 is no limit"`
	Retry           *Retry   `key:"retry" doc:"try again until the step and its assert hold"`
	ContinueOnError bool     `key:"continue_on_error" default:"off" doc:"go on when the step fails; the run still counts as failed"`
}

// Frame works out the step's timeout, retry and continue_on_error.
func (s *Scope) Frame() (Frame, error) {
	r := s.plan.reporter()
	f := s.frame(&decoder{report: r.add})
	return f, r.err()
}

func (s *Scope) frame(d *decoder) Frame {
	var f Frame
	n := s.step.frame
	d.into(&n, s, &f, "step")
	return f
}

// Retry says how often a step is tried until it and its assert hold.
type Retry struct {
	Attempts int      `key:"attempts" default:"3" min:"1" max:"1000000" short:"true" doc:"tries at the most"`
	Interval Duration `key:"interval" default:"1s" doc:"pause between two tries"`
}
