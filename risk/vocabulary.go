package risk

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// vocabulary are the tests that rules may name. There are no others: rules are
// data, and nothing in them is run.
type vocabulary struct {
	operand map[string]func(*call, argv.Word) bool
	line    map[string]func(*call) bool
	target  map[string]func(*Place, *target) bool
}

func newVocabulary() vocabulary {
	return vocabulary{operand: operandTests(), line: lineTests(), target: targetTests()}
}

// operandTests returns the tests of an operand by name.
func operandTests() map[string]func(*call, argv.Word) bool {
	return map[string]func(*call, argv.Word) bool{
		"any":              func(*call, argv.Word) bool { return true },
		"unresolved":       func(_ *call, w argv.Word) bool { return isUnknown(w) },
		"glob":             func(_ *call, w argv.Word) bool { return w.Glob },
		"is_dot":           func(_ *call, w argv.Word) bool { return isDot(w) },
		"outside_worktree": outsideOperand,
		"ci_path":          ciOperand,
		"url_local":        func(_ *call, w argv.Word) bool { return hostOf(w) == hostLocal },
		"url_remote":       func(_ *call, w argv.Word) bool { return hostOf(w) == hostRemote },
		"remote_path":      func(_ *call, w argv.Word) bool { return isRemotePath(w) },
		"refspec_force":    func(_ *call, w argv.Word) bool { return isUnknown(w) || strings.HasPrefix(w.Value, "+") },
		"refspec_delete":   func(_ *call, w argv.Word) bool { return isRefspecDelete(w) },
		"sql_destructive":  func(_ *call, w argv.Word) bool { return !w.Known || isDestructiveSQL(w.Value) },
		"verb_delete":      func(_ *call, w argv.Word) bool { return isDeleteVerb(w) },
		"verb_change":      func(_ *call, w argv.Word) bool { return isChangeVerb(w) },
		"url_away":         func(_ *call, w argv.Word) bool { return isURLAway(w) },
		"del_verb":         func(_ *call, w argv.Word) bool { return isOVSDelete(w) },
		"tmux_kill":        func(_ *call, w argv.Word) bool { return isTmuxKill(w) },
		"version_pinned":   func(_ *call, w argv.Word) bool { return isPinned(w) },
		"version_named":    func(_ *call, w argv.Word) bool { return namesVersion(w) },
		"assignment":       func(_ *call, w argv.Word) bool { return strings.IndexByte(w.Value, '=') > 0 },
		"number":           func(_ *call, w argv.Word) bool { return isNumber(w) },
		"ends_session":     func(_ *call, w argv.Word) bool { return isEndOfSession(w) },
		"deploy_name":      func(_ *call, w argv.Word) bool { return isUnknown(w) || isDeployName(w.Value) },
	}
}

// lineTests are the tests of a whole command line.
func lineTests() map[string]func(*call) bool {
	return map[string]func(*call) bool{
		"dry_run":        isDryRun,
		"help":           isHelp,
		"bare":           func(c *call) bool { return len(c.line.Operands) == 0 && len(c.line.Sub) < 2 },
		"script_dry_run": isScriptDryRun,
		"config_given":   func(c *call) bool { return c.line.Has("-c", "--config-env") },
		"config_write":   isConfigWrite,
		"config_shared":  isConfigShared,
		"discards_paths": discardsPaths,
		"published":      isPublished,
		"resets_branch":  resetsBranch,
		"updates_refs":   updatesRefs,
		"only_paths":     func(c *call) bool { return len(c.line.Sub) == 1 && c.line.Dashes == 0 },
		"reaches_out":    reachesOut,
		"task_publishes": taskPublishes,
		"sql_shell":      sqlRunsPrograms,
		"other_branch":   renamesOther,
		"reads_only":     readsOnly,
		"other_worktree": reachesOther,
		"refs_given":     func(c *call) bool { return len(c.line.Operands) > 1 },
		"fetches_into":   fetchesInto,
		"fetch_forces":   fetchForces,
		"pushes_image":   pushesImage,
		"sql_ends":       endsSQLSessions,
		"push_local":     pushesLocal,
		"forced_setting": isForcedBySetting,

		"migrates_to_zero": migratesToZero,
		"entity_framework": managesDatabase,
		"posts":            isPost,
		"http_posts":       httpPosts,
		"remote_target":    remoteTarget,
		"pushes_files":     pushesFiles,
		"api_changes":      apiChanges,
		"api_deletes":      apiDeletes,
		"sql_destructive":  runsDestructiveSQL,
		"sql_unknown":      runsUnknownSQL,
		"redis_flush":      flushesRedis,
		"older_version":    isDowngrade,
		"probe":            isProbe,
		"device_or_file":   overwritesWithDD,
		"deploy_program":   func(c *call) bool { return isDeployName(c.inv.Program) },
		"given":            func(c *call) bool { return len(c.inv.Args) > 0 },
		"first_deploys":    firstDeploys,
		"deploy_script":    runsDeployScript,
		"into_null":        func(c *call) bool { return c.last() == "/dev/null" },
		"replaces_table":   func(c *call) bool { return len(c.line.Operands) > 0 || c.line.Unsure },
		"foreign_files":    outsideOperands,

		"bq_dry_run":       isBigQueryDryRun,
		"reads":            readsFirst,
		"reads_group":      readsGroup,
		"runs_here":        runsHere,
		"lists_owners":     listsOwners,
		"own_jobs":         signalsOwnJobs,
		"parted_changes":   partedChanges,
		"prints_only":      func(c *call) bool { return c.surely("--print", "--preview") },
		"accepts_one_side": acceptsOneSide,
		"nft_loses":        func(c *call) bool { return c.nftVerb("flush", "delete", "destroy", "reset") },
		"nft_changes":      nftChanges,
		"more_words":       func(c *call) bool { return len(c.line.Operands) > 1 },
		"more_words_or_verb": func(c *call) bool {
			return len(c.line.Operands) > 0 || len(c.line.Sub) > 0 && c.line.Sub[0] != "serve" && c.line.Sub[0] != "funnel"
		},
		"apt_downgrade_option": allowsDowngrades,
		"sysupgrade_twice":     upgradesTwice,
		"lowest_resolution":    resolvesLowest,
		"rolls_back":           rollsBack,
		"script_ends_session":  scriptEndsSession,
		"workspace_publishes":  workspacePublishes,
	}
}

// targetTests are the tests of a file that is changed.
func targetTests() map[string]func(*Place, *target) bool {
	return map[string]func(*Place, *target) bool{
		"unresolved":       func(_ *Place, t *target) bool { return t.path == "" && !t.remote },
		"agents_file":      func(p *Place, t *target) bool { return !t.remote && t.agents(p) },
		"outside_worktree": func(p *Place, t *target) bool { return t.outsideFile(p) && p.kind(t.path) != PathMissing },
		"outside_new":      func(p *Place, t *target) bool { return t.outsideFile(p) && p.kind(t.path) == PathMissing },
		"outside":          func(p *Place, t *target) bool { return t.outsideFile(p) },
		"ci_path":          func(p *Place, t *target) bool { return !t.remote && t.ci(p) },
		"startup":          func(p *Place, t *target) bool { return !t.remote && !t.maybe && t.startup(p) },
		"device":           func(p *Place, t *target) bool { return t.device(p) },
		"git_dir":          func(p *Place, t *target) bool { return !t.remote && !t.maybe && t.gitdir(p) },
		"other_worktree":   func(p *Place, t *target) bool { return !t.remote && t.other(p) },
		"network":          func(_ *Place, t *target) bool { return inside("/dev/tcp", t.path) || inside("/dev/udp", t.path) },
	}
}

// outsideFile reports whether a file is outside, unless another rule judges its
// kind. A file on another machine counts if it is removed or not temporary.
func (t *target) outsideFile(p *Place) bool {
	switch {
	case t.maybe, inside("/dev/tcp", t.path), inside("/dev/udp", t.path), isStream(t.path):
		return false
	case t.remote:
		return t.kind == removes || t.path != "" && !inside("/tmp", t.path)
	case t.path == "" && t.kind != removes:
		return false // it has a rule of its own
	}
	return t.outside(p)
}

// check returns a [*RuleError] for a rule with a fault of its own.
func (r *Rules) check(one *rule) error {
	fail := func(format string, args ...any) error {
		return &RuleError{Line: one.line, ID: one.ID, Why: fmt.Sprintf(format, args...)}
	}
	if one.Reason == "" {
		return fail("has no reason")
	}
	if len(one.Match) == 0 || len(one.Examples) == 0 {
		return fail("has no match, or no example")
	}
	if !slices.Contains([]string{"", "processes", "paths", "targets", "changes", "tree"}, one.Within) {
		return fail("within %q is not known", one.Within)
	}
	if !slices.Contains([]string{"", "push", "forge", "modify", "amend", "downgrade"}, one.Grant) {
		return fail("grant %q is not known", one.Grant)
	}
	for _, name := range one.Unless {
		if r.tests.line[name] == nil {
			return fail("there is no test %q of a line", name)
		}
	}
	for i := range one.Match {
		if why := r.tests.wrong(&one.Match[i]); why != "" {
			return fail("%s", why)
		}
	}
	return nil
}

// wrong returns the fault of a match.
func (v vocabulary) wrong(m *match) string {
	if (len(m.Program) == 0) == (len(m.Target) == 0) {
		return "a match names programs, or tests of files, and not both"
	}
	if (len(m.Target) == 0) != (len(m.Effect) == 0) {
		return "tests of files go with effects"
	}
	if len(m.Target) > 0 && len(m.Sub)+len(m.Flags)+len(m.With)+len(m.Without)+len(m.First)+len(m.Words)+len(m.Operand)+len(m.When) > 0 {
		return "a match of files says nothing of command lines"
	}
	for _, name := range m.Effect {
		if !slices.Contains([]change{writes, appends, creates, removes}, change(name)) {
			return fmt.Sprintf("there is no effect %q", name)
		}
	}
	for _, name := range m.Operand {
		if v.operand[name] == nil {
			return fmt.Sprintf("there is no test %q of an operand", name)
		}
	}
	if why := v.unknownLine(m.When); why != "" {
		return why
	}
	for _, name := range m.Target {
		if v.target[name] == nil {
			return fmt.Sprintf("there is no test %q of a file", name)
		}
	}
	return ""
}

// unknownLine says which of some names is no test of a line.
func (v vocabulary) unknownLine(names []string) string {
	for _, name := range names {
		if v.line[name] == nil {
			return fmt.Sprintf("there is no test %q of a line", name)
		}
	}
	return ""
}
