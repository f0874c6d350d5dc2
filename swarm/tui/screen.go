package tui

import (
	"context"
	"errors"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Screen is a full-screen view without a terminal. Its methods are called by one
// goroutine.
type Screen interface {
	// Resize tells the size of the terminal in columns and rows, both at least 1.
	Resize(width, height int)
	// Update takes a [Key], or a message that an effect returned. The result may
	// be nil.
	Update(message any) Effect
	// Lines is the picture: at most as many lines as the terminal has rows, each
	// at most as wide as the terminal.
	Lines() []string
}

// Key is a key that was pressed, such as "a", "A", "enter", "esc", "up",
// "space", "ctrl+c". Text that was pasted is [Paste].
type Key string

// Paste is text that was pasted.
type Paste string

// Effect is an action for a screen: [*Work], [*Foreground], [*Both] or [*Quit].
// nil is nothing.
//
//sumtype:decl
type Effect interface{ effect() }

// Work runs beside the screen. Its result, unless nil, is the next message.
type Work struct {
	Do func(context.Context) any // required
}

// Foreground has the terminal until it returns: the screen is away meanwhile.
// Its result, unless nil, is the next message.
type Foreground struct {
	Do func(context.Context) any // required
}

// Both is two effects.
type Both struct{ First, Second Effect }

// Quit ends the program.
type Quit struct{}

func (*Work) effect()       {}
func (*Foreground) effect() {}
func (*Both) effect()       {}
func (*Quit) effect()       {}

// Program is a screen on a terminal.
type Program struct {
	Screen Screen // required
	// Begin is the first effect; nil for none.
	Begin Effect
	// In and Out are the terminal. Both are required.
	In  io.Reader
	Out io.Writer
	// Environ is the environment, which tells the abilities of the terminal.
	Environ []string
	// Color has the picture keep its colors.
	Color bool
	Title string // of the window; foreign text is not allowed
}

// Run shows a screen until it quits or ctx ends, whose cause it then returns.
// The terminal is as it was before when Run returns. Effects of type [*Work]
// that are at work then are cancelled and not waited for.
func Run(ctx context.Context, p Program) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	profile := colorprofile.NoTTY
	if p.Color {
		profile = colorprofile.Detect(p.Out, p.Environ)
		profile = max(profile, colorprofile.ANSI)
	} else {
		profile = colorprofile.ASCII
	}
	program := tea.NewProgram(&adapter{ctx: inner, program: p},
		tea.WithContext(ctx), tea.WithInput(p.In), tea.WithOutput(p.Out), tea.WithEnvironment(p.Environ),
		tea.WithoutSignalHandler(), tea.WithColorProfile(profile), tea.WithFPS(60))
	_, err := program.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// adapter is a screen as bubbletea knows it.
type adapter struct {
	ctx     context.Context // of the program: effects get it
	program Program
	sized   bool
}

func (a *adapter) Init() tea.Cmd { return a.command(a.program.Begin) }

func (a *adapter) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		a.sized = true
		a.program.Screen.Resize(max(m.Width, 1), max(m.Height, 1))
		return a, nil
	case tea.KeyPressMsg:
		if m.String() == "ctrl+z" {
			return a, tea.Suspend
		}
		return a, a.command(a.program.Screen.Update(Key(keyName(m))))
	case tea.PasteMsg:
		return a, a.command(a.program.Screen.Update(Paste(m.Content)))
	case result:
		return a, a.command(a.program.Screen.Update(m.message))
	}
	return a, nil
}

// keyName is a key as screens know it.
func keyName(m tea.KeyPressMsg) string {
	if name := m.String(); name != " " {
		return name
	}
	return "space"
}

func (a *adapter) View() tea.View {
	v := tea.NewView("")
	if a.sized {
		v = tea.NewView(strings.Join(a.program.Screen.Lines(), "\n"))
	}
	v.AltScreen, v.WindowTitle = true, a.program.Title
	return v
}

// result is a message for the screen.
type result struct{ message any }

func (a *adapter) command(e Effect) tea.Cmd {
	switch e := e.(type) {
	case nil:
		return nil
	case *Work:
		return func() tea.Msg { return wrap(e.Do(a.ctx)) }
	case *Foreground:
		f := &foreground{ctx: a.ctx, do: e.Do}
		return tea.Exec(f, func(error) tea.Msg { return wrap(f.message) })
	case *Both:
		return tea.Batch(a.command(e.First), a.command(e.Second))
	case *Quit:
		return tea.Quit
	default:
		panic("unhandled effect")
	}
}

func wrap(message any) tea.Msg {
	if message == nil {
		return nil
	}
	return result{message}
}

// foreground is an effect as bubbletea runs programs.
type foreground struct {
	ctx     context.Context
	do      func(context.Context) any
	message any
}

func (f *foreground) Run() error {
	f.message = f.do(f.ctx)
	return nil
}

func (*foreground) SetStdin(io.Reader)  {}
func (*foreground) SetStdout(io.Writer) {}
func (*foreground) SetStderr(io.Writer) {}
