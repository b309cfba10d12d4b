# What a dead agent left, with a habit that makes it hard to end.
# leak.pl HABIT READY [lead]: appends its pid to the file READY once the habit is in place; `lead` starts a session of its own.
use strict;
use warnings;
use POSIX ();

my ($habit, $ready, $lead) = @ARGV;
my $self = $0;
POSIX::setsid() if ($lead // '') eq 'lead';

sub rest { my $seconds = shift; select(undef, undef, undef, $seconds) }

sub tell_ready {
    open(my $file, '>>', $ready) or exit 1;
    syswrite($file, "$$\n");
    close $file;
}

sub stay { rest(60) while 1 }

sub child {
    my ($work) = @_;
    my $pid = fork;
    return $pid if !defined $pid || $pid;
    $work->();
    POSIX::_exit(0);
}

my %habits = (
    plain   => sub { tell_ready(); stay() },
    deaf    => sub { $SIG{TERM} = 'IGNORE'; tell_ready(); stay() },
    stopped => sub { tell_ready(); kill 'STOP', $$; stay() },
    # Becomes itself again and again: pid and start stay, the rest is read anew. Not all the time: that is work.
    execs => sub {
        tell_ready() unless $ENV{STORM_AGAIN};
        $ENV{STORM_AGAIN} = 1;
        rest(2.5);
        exec $^X, $self, $habit, $ready;
    },
    # Has a child at all times, whatever happens to it.
    forks => sub {
        $SIG{TERM} = 'IGNORE';
        my $told = 0;
        while (1) {
            my $pid = child(sub { $SIG{TERM} = 'DEFAULT'; stay() });
            tell_ready() unless $told++;
            waitpid($pid, 0) if defined $pid;
            rest(0.01);
        }
    },
    # Hands its work to a grandchild in a session of its own when it is told to end.
    flees => sub {
        $SIG{TERM} = sub {
            child(sub { POSIX::setsid(); child(sub { $SIG{TERM} = 'DEFAULT'; stay() }) });
            POSIX::_exit(0);
        };
        tell_ready();
        stay();
    },
    # The same, but what flees stays in the group.
    scatters => sub {
        $SIG{TERM} = sub {
            child(sub { child(sub { $SIG{TERM} = 'DEFAULT'; stay() }) }) for 1 .. 2;
            POSIX::_exit(0);
        };
        tell_ready();
        stay();
    },
    slow => sub { $SIG{TERM} = sub { rest(0.2); POSIX::_exit(0) }; tell_ready(); stay() },
    # A tree, one branch of which has a session of its own, as `lean --worker` does.
    tree => sub {
        child(sub { child(sub { stay() }); stay() });
        child(sub { POSIX::setsid(); $SIG{TERM} = 'IGNORE'; stay() });
        rest(0.02);
        tell_ready();
        stay();
    },
    # Obeys, and leaves deaf children in its group.
    heirs => sub {
        child(sub { $SIG{TERM} = 'IGNORE'; stay() }) for 1 .. 2;
        rest(0.02);
        tell_ready();
        stay();
    },
    # Ends by itself, some time around the clean-up: its pid is free between plan and signal.
    quits => sub { tell_ready(); rest(0.2 + rand(0.9)); POSIX::_exit(0) },
);

$habits{$habit}->();
