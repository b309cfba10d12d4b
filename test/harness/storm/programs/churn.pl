# Uses pids up, so that numbers come round soon, and leaves a daemon on some of them.
# churn.pl LOG MAXIMUM DAEMONS: keeps numbers below MAXIMUM where the namespace has no pid_max of its own.
use strict;
use warnings;
use POSIX ();

my ($log, $maximum, $daemons) = @ARGV;
$SIG{CHLD} = 'IGNORE';
open(my $out, '>>', $log) or die "no log: $!";

sub start_of {
    my ($pid) = @_;
    open(my $file, '<', "/proc/$pid/stat") or return '?';
    my $text = <$file> // '';
    close $file;
    return (split ' ', substr($text, rindex($text, ')') + 2))[19] // '?';
}

for (my $n = 1; ; $n++) {
    my $pid = fork;
    if (!defined $pid) { select(undef, undef, undef, 0.05); next }
    if ($pid == 0) {
        POSIX::_exit(0) if $n % 40 || $n / 40 > $daemons;
        POSIX::setsid();
        pipe(my $read, my $write);
        my $child = fork;
        if (defined $child && $child == 0) {
            close $write;
            sysread($read, my $word, 1);
            select(undef, undef, undef, 60) while 1;
        }
        syswrite($out, "bystander $child " . start_of($child) . " a daemon of the crowd\n") if defined $child;
        POSIX::_exit(0);
    }
    if ($pid > $maximum && open(my $last, '>', '/proc/sys/kernel/ns_last_pid')) { syswrite($last, 300); close $last }
    select(undef, undef, undef, 0.002);
}
