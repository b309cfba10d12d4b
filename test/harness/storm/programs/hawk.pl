# Waits until one of the given pids is free and gives it, at once, to somebody innocent.
# hawk.pl LOG PID...: LOG gets `recycled PID` for each pid taken and `bystander PID START what` for each innocent process.
use strict;
use warnings;
use POSIX ();

my ($log, @prey) = @ARGV;
$SIG{CHLD} = 'IGNORE';
open(my $out, '>>', $log) or die "no log: $!";

sub say_line { syswrite($out, "@_\n") }

sub start_of {
    my ($pid) = @_;
    open(my $file, '<', "/proc/$pid/stat") or return '?';
    my $text = <$file> // '';
    close $file;
    return (split ' ', substr($text, rindex($text, ')') + 2))[19] // '?';
}

# Tells what struck it, where it can: nothing at all is what the log says of KILL.
sub stay {
    for my $name (qw(TERM HUP INT)) {
        $SIG{$name} = sub { say_line('struck', $$, "SIG$name"); POSIX::_exit(0) };
    }
    select(undef, undef, undef, 60) while 1;
}

# A process that is on the log before anything else can happen to it: it waits for its parent's word.
sub innocent {
    my ($what, $work) = @_;
    pipe(my $read, my $write) or return;
    my $pid = fork;
    return unless defined $pid;
    if ($pid) {
        close $read;
        say_line('bystander', $pid, start_of($pid), $what);
        close $write;
        return;
    }
    close $write;
    sysread($read, my $word, 1);
    close $read;
    $work->();
    POSIX::_exit(0);
}

my @lives = (
    # A daemon as daemons are made: session, fork, the first one ends.
    sub { POSIX::setsid(); innocent('a daemon on a recycled group', \&stay); POSIX::_exit(0) },
    sub { say_line('bystander', $$, start_of($$), 'a job on a recycled pid'); stay() },
    sub {
        POSIX::setsid();
        innocent('a child of a recycled pid', \&stay) for 1 .. 2;
        say_line('bystander', $$, start_of($$), 'a parent on a recycled pid');
        stay();
    },
    sub {
        POSIX::setsid();
        my $pid = fork;
        if (defined $pid && $pid == 0) { innocent('a grandchild on a recycled session', \&stay) }
        waitpid($pid, 0) if $pid;
        POSIX::_exit(0);
    },
    # The words of a leak, and no trace of an agent.
    sub {
        POSIX::setsid();
        innocent('a twin by its words on a recycled group', sub { exec split /\t/, $ENV{STORM_TWIN} });
        POSIX::_exit(0);
    },
);

my $turn = $$;
my $end = time + 20;
while (@prey && time < $end) {
    for my $pid (splice @prey) {
        if (-e "/proc/$pid") { push @prey, $pid; next }
        open(my $last, '>', '/proc/sys/kernel/ns_last_pid') or next;
        syswrite($last, $pid - 1);
        close $last;
        my $child = fork;
        next unless defined $child;
        if ($child == 0) {
            POSIX::_exit(0) if $$ != $pid;
            say_line('recycled', $pid);
            $lives[$turn % @lives]->();
            POSIX::_exit(0);
        }
        $turn++;
    }
    select(undef, undef, undef, 0.0003);
}
