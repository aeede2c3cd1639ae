package localserver

import (
	"fmt"
	"strconv"
)

// What servers allow of themselves.
const (
	defaultConnections        = 151
	defaultPreparedStatements = 16382
	spareConnections          = 10  // for whoever looks at the server while the load runs
	spareFiles                = 100 // what a server opens besides its connections, at the least
	maxBacklog                = 65535
)

// limitOptions raises what bounds the number of clients. The server then takes as many open files as it needs, as far as
// the hard limit lets it.
func (c Config) limitOptions() []string {
	var args []string
	if n := c.MaxConnections + spareConnections; n > defaultConnections {
		args = append(args, "max-connections="+strconv.Itoa(n))
		// All clients connect at the same moment. On a Unix socket a full queue does not let them wait but refuses them.
		args = append(args, "back-log="+strconv.Itoa(min(n, maxBacklog)))
	}
	if n := c.MaxPreparedStatements; n > defaultPreparedStatements {
		args = append(args, "max-prepared-stmt-count="+strconv.Itoa(n))
	}
	return args
}

// limits are what bounds the number of clients on a server.
type limits struct {
	connections int // max_connections
	files       int // open_files_limit; 0 where the server does not know it
	statements  int // max_prepared_stmt_count
}

// checkLimits sees whether the server took the limits that it was given: where it may not open files enough, it lowers
// them, with a line in its log only, or lets more clients in than it has files for, who then wait for ever. A limit
// among the options is the user's own affair.
func (s *Server) checkLimits(options map[string]string, l limits) error {
	clients := s.config.MaxConnections
	if l.files > 0 {
		l.connections = min(l.connections, l.files-spareFiles)
	}
	if l.connections < clients && !hasOption(options, "max-connections") {
		return fmt.Errorf("%s can serve no more than %d clients where %d are needed, since it may open only %d files: raise the limit, for example with `ulimit -n %d`",
			s.program, max(0, l.connections), clients, l.files, 5*(clients+spareConnections))
	}
	if l.statements < s.config.MaxPreparedStatements && !hasOption(options, "max-prepared-stmt-count") {
		return fmt.Errorf("%s allows no more than %d prepared statements where %d are needed: use fewer clients or tables", s.program, l.statements, s.config.MaxPreparedStatements)
	}
	return nil
}
