package limit

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"
)

func TestJobs(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, tc := range []struct {
		name                 string
		available, footprint int64
		want                 int
	}{
		{"a large machine", 24 * gib, CommandFootprint, 100},
		{"two gibibytes", 2 * gib, CommandFootprint, 16},
		{"less than the reserve", gib / 2, CommandFootprint, 1},
		{"nothing known", 0, CommandFootprint, 100},
		{"a heavy agent", 5 * gib, gib, 4},
	} {
		if got := (Machine{Memory: Room{Free: tc.available}}).Jobs(tc.footprint); got != tc.want {
			t.Errorf("%s: Jobs(%d, %d) = %d, want %d", tc.name, tc.available, tc.footprint, got, tc.want)
		}
	}
}

func TestDiskAdmitsByWhatIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		free := int64(DiskSlack + 250)
		d := &Disk{Dir: "d", Free: func() (int64, error) { return free, nil }}
		filled1, released1, err := d.Admit(t.Context(), 100, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.Admit(t.Context(), 100, nil); err != nil {
			t.Fatalf("the second fits beside the first: %v", err)
		}
		third := make(chan error, 1)
		go func() {
			_, _, err := d.Admit(t.Context(), 100, nil)
			third <- err
		}()
		synctest.Wait()
		select {
		case err := <-third:
			t.Fatalf("the third was not made to wait: %v", err)
		default:
		}
		filled1()
		released1()
		released1() // twice is harmless
		if err := <-third; err != nil {
			t.Fatalf("room was made, and the third got %v", err)
		}
	})
}

func TestDiskRefusesWhenNothingCanMakeRoom(t *testing.T) {
	t.Parallel()
	d := &Disk{Dir: "d", Free: func() (int64, error) { return DiskSlack + 99, nil }}
	_, _, err := d.Admit(t.Context(), 100, nil)
	var space *SpaceError
	if !errors.As(err, &space) || space.Have != DiskSlack+99 {
		t.Fatalf("Admit = %v, want a SpaceError that says what is free", err)
	}
}

func TestDiskWaitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &Disk{Dir: "d", Free: func() (int64, error) { return DiskSlack + 100, nil }}
		if _, _, err := d.Admit(t.Context(), 100, nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		waited := make(chan error, 1)
		go func() {
			_, _, err := d.Admit(ctx, 100, nil)
			waited <- err
		}()
		synctest.Wait()
		why := errors.New("stopped")
		cancel(why)
		if err := <-waited; !errors.Is(err, why) {
			t.Errorf("Admit = %v, want the cause", err)
		}
		if _, _, err := d.Admit(ctx, 0, nil); !errors.Is(err, why) {
			t.Errorf("Admit with room for it = %v, want the cause", err)
		}
	})
}

func TestIsSpace(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		fmt.Errorf("write: %w", unix.ENOSPC), fmt.Errorf("write: %w", unix.EDQUOT), &SpaceError{},
	} {
		if !IsSpace(err) {
			t.Errorf("IsSpace(%v) = false", err)
		}
	}
	if IsSpace(unix.EIO) {
		t.Error("IsSpace(EIO) = true")
	}
}

func TestMeasurements(t *testing.T) {
	t.Parallel()
	if got := MemAvailable(); got < 0 {
		t.Errorf("MemAvailable() = %d", got)
	}
}
