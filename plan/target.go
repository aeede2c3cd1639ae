package plan

// Target is where SQL goes. With neither Address nor Socket it is a private local server, which Local may set up.
type Target struct {
	Address  string `key:"address" json:"address,omitempty" doc:"host:port; the port is 3306 where it is left out"`
	Socket   string `key:"socket" json:"socket,omitempty" doc:"path of a unix socket"`
	User     Text   `key:"user" json:"user" default:"root" doc:"account"`
	Password Text   `key:"password" json:"password,omitzero" onlysecret:"true" doc:"its password, as ${{ secrets.NAME }}"`
	Database string `key:"database" json:"database" default:"sbtest" doc:"the database that holds the tables"`
	TLS      *TLS   `key:"tls" json:"tls,omitempty" doc:"encryption: true, false, preferred, or a mapping"`

	AllowCleartext    bool `key:"allow_cleartext_password" json:"allow_cleartext_password,omitempty" default:"off" doc:"let the server ask for the password as it is (PAM, LDAP); use it with tls only"`
	AllowOldPasswords bool `key:"allow_old_passwords" json:"allow_old_passwords,omitempty" default:"off" doc:"log in with the hash of before MySQL 4.1, which is insecure"`

	ConnectTimeout Duration `key:"connect_timeout" json:"connect_timeout" default:"10s" min:"1ms" doc:"how long a connection may take to be there"`

	Params map[string]string `key:"params" json:"params,omitempty" doc:"session variables that every connection sets, for example sql_mode"`

	PSMode string `key:"ps_mode" json:"ps_mode,omitempty" enum:"auto|disable" doc:"how loads send their statements, where a run does not say: auto: prepared; disable: as text, for systems that prepare none; left out, each workload's own"`

	CheckLimits bool `key:"check_limits" json:"check_limits" default:"on" doc:"hold what loads need against max_connections, max_prepared_stmt_count and the like before they begin; off for a proxy that shares few connections to its servers among many clients"`

	Monitor *Monitor `key:"monitor" json:"monitor,omitempty" doc:"how the server's machine is watched: local where it is this one, none, or a mapping for ssh; left out: a private server's and that of a socket locally, others not; one of an outer group does not hold for another server"`

	Local *Local `key:"local" json:"local,omitempty" doc:"set up the private local server"`
}

// Private tells whether the target is a server of benchplan's own.
func (t *Target) Private() bool { return t.Address == "" && t.Socket == "" }

// TLS says how a connection is encrypted and whom it trusts.
type TLS struct {
	Mode       string `key:"mode" json:"mode" short:"true" default:"true" enum:"true|false|on|off|preferred" doc:"true: encrypt and verify; preferred: encrypt where the server can, unverified"`
	CA         string `key:"ca" json:"ca,omitempty" doc:"file of the certificates to trust in place of the system's (PEM)"`
	Cert       string `key:"cert" json:"cert,omitempty" doc:"file of the client's certificate (PEM)"`
	Key        string `key:"key" json:"key,omitempty" doc:"file of the client certificate's key (PEM)"`
	ServerName string `key:"server_name" json:"server_name,omitempty" doc:"the name to expect in the server's certificate, where it is not the host's"`
	SkipVerify bool   `key:"skip_verify" json:"skip_verify,omitempty" default:"off" doc:"do not verify the server's certificate: anybody between can read along"`
}

// Where a monitor reads its figures.
const (
	MonitorLocal = "local"
	MonitorSSH   = "ssh"
	MonitorNone  = "none"
)

// Monitor says how the figures of the server's machine (CPU, disk, memory, network) are read.
type Monitor struct {
	Where string `key:"where" json:"where" short:"true" default:"ssh" enum:"local|ssh|none" doc:"local: it is this machine; ssh: another one; none: not at all"`
	// What follows is of ssh. Files are sought from the plan's folder; ~ is the home of who runs benchplan.
	Address    string `key:"address" json:"address,omitempty" doc:"host:port of its ssh server; the host is the target's and the port 22 where they are left out"`
	User       string `key:"user" json:"user,omitempty" doc:"account; left out, the one that runs benchplan"`
	Key        string `key:"key" json:"key,omitempty" doc:"file of the private key; left out, the agent's keys, then those of ~/.ssh"`
	Passphrase Text   `key:"passphrase" json:"passphrase,omitzero" onlysecret:"true" doc:"of the key, as ${{ secrets.NAME }}"`
	Password   Text   `key:"password" json:"password,omitzero" onlysecret:"true" doc:"of the account, as ${{ secrets.NAME }}"`
	KnownHosts string `key:"known_hosts" json:"known_hosts,omitempty" doc:"file of the host keys to trust; left out, ~/.ssh/known_hosts and /etc/ssh/ssh_known_hosts; an unknown host is refused, with the line to add"`
}

// Watched tells where the figures of the target's machine are read: what its monitor says, else locally where the server is on this
// machine for certain.
func (t *Target) Watched() string {
	switch {
	case t.Monitor != nil:
		return t.Monitor.Where
	case t.Private() || t.Socket != "":
		return MonitorLocal
	}
	return MonitorNone
}

// Local sets up the private local server.
type Local struct {
	Options map[string]string `key:"options" json:"options,omitempty" doc:"server options at start-up, for example innodb_buffer_pool_size: 1G"`
	Data    string            `key:"data" json:"data,omitempty" doc:"a data folder to keep; left out, a temporary one"`
	Program string            `key:"program" json:"program,omitempty" doc:"path of mariadbd or mysqld, where the one found by itself is not the one wanted"`
}

// Files is the data under test of file workloads, said once in a scope: prepare makes it, run uses it, cleanup removes it.
type Files struct {
	Count     int    `key:"count" json:"count" default:"128" min:"1" max:"1000000" unit:"files" doc:"how many files"`
	TotalSize Size   `key:"total_size" json:"total_size" default:"2G" min:"1" unit:"bytes" doc:"their size together"`
	Dir       string `key:"dir" json:"dir" default:"." doc:"the folder that holds them, from the plan's folder"`
}
