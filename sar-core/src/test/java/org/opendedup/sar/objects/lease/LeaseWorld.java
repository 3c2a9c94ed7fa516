package org.opendedup.sar.objects.lease;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.MemoryObjectStore;
import org.opendedup.sar.objects.ReplaceableObjects;

/**
 * Machines that want the same volume, in a time that only counts. Each has clocks of its own rate, is paused,
 * suspended, killed and cut off from the store; requests and answers are late or get lost. Everything runs in one
 * thread: while a request is on its way, the others go on. The chain of the metadata is a list here, whose next place
 * one alone gets.
 */
final class LeaseWorld {
    /** What is done wrong. */
    enum Fault {
        NONE,
        /** A commit is acknowledged without a place in the chain. */
        NO_FENCE,
        /** Reads are served without a look at the lease. */
        NO_LEASE,
        /** Who has the chain serves without having renewed the lease since. */
        NO_CONFIRMATION,
        /** Who wants a lease takes it too early. */
        IMPATIENT,
        /** A suspended machine does not notice that time has passed. */
        ONE_CLOCK
    }

    private static final long MS = 1_000_000;
    private static final long SECOND = 1000 * MS;
    private static final long REQUEST_LIMIT = 20 * SECOND;

    /** The process has ended in the middle of a call. An error, because a lease goes on after any exception. */
    private static final class Killed extends Error {
        private static final long serialVersionUID = 1;
    }

    private record Event(long at, long order, Runnable run) {}

    /** A place of the chain: a commit, or the end of an owner's part. */
    private record Entry(UUID token, boolean isCommit) {}

    private final SplittableRandom random;
    private final Fault fault;
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::order));
    private final ReplaceableObjects objects =
            new MemoryObjectStore().replaceable().orElseThrow();
    private final List<Entry> chain = new ArrayList<>();
    private final Map<UUID, Integer> places = new HashMap<>();
    private final List<UUID> acknowledged = new ArrayList<>();
    private final List<Machine> machines = new ArrayList<>();
    private long now;
    private long order;
    private boolean isQuiet;
    private long brokenAt = Long.MIN_VALUE / 2;

    int takeovers;
    int commits;
    int reads;
    int breaks;
    int losses;

    LeaseWorld(long seed, Fault fault, int count) {
        random = new SplittableRandom(seed);
        this.fault = fault;
        for (int i = 0; i < count; i++) {
            machines.add(new Machine(i));
        }
    }

    void run(long seconds, boolean hasTrouble) {
        isQuiet = !hasTrouble;
        machines.forEach(Machine::boot);
        if (hasTrouble) {
            at(now + nextTrouble(), this::trouble);
        }
        passTo(seconds * SECOND);
    }

    /** Kills who serves, and returns the milliseconds until another does; -1: nobody did. */
    long millisUntilAnotherServes() {
        while (machines.stream().noneMatch(Machine::serves)) {
            passTo(now + SECOND);
        }
        machines.stream().filter(Machine::serves).forEach(Machine::kill);
        long from = now;
        while (now < from + 60 * SECOND) {
            passTo(now + 10 * MS);
            if (machines.stream().anyMatch(Machine::serves)) {
                return (now - from) / MS;
            }
        }
        return -1;
    }

    private void at(long time, Runnable run) {
        events.add(new Event(time, order++, run));
    }

    private void passTo(long time) {
        while (!events.isEmpty() && events.peek().at() <= time) {
            Event next = events.remove();
            // A call within a call may have taken longer.
            now = Math.max(now, next.at());
            next.run().run();
        }
        now = Math.max(now, time);
    }

    private long nextTrouble() {
        return random.nextLong(SECOND, 12 * SECOND);
    }

    private void trouble() {
        Machine machine = machines.get(random.nextInt(machines.size()));
        long length = random.nextLong(100 * MS, 30 * SECOND);
        switch (random.nextInt(6)) {
            case 0 -> machine.kill();
            case 1 -> machine.stop(length, false);
            case 2 -> machine.stop(length, true);
            case 3, 4 -> machine.cutUntil = now + length;
            default -> {
                if (random.nextInt(2) == 0) {
                    breakNow();
                }
            }
        }
        at(now + nextTrouble(), this::trouble);
    }

    private void breakNow() {
        try {
            LeaseObject lease = new LeaseObject("world", objects);
            Optional<LeaseRecord> held = lease.current();
            if (held.isPresent() && lease.breakNow(held.get().owner()).isPresent()) {
                brokenAt = now;
                breaks++;
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private final class Machine implements LeaseClock {
        private final int number;
        private final double rate = 0.95 + random.nextDouble() * 0.1;
        private final long offset = random.nextLong(1L << 50);
        /** Longest time between two commits: some machines are mostly read. */
        private final long idleNs = random.nextBoolean() ? 2 * SECOND : 60 * SECOND;
        /** Rises with each process: what an earlier one was about to do is not done. */
        private int process;

        private long stoppedUntil;
        private long cutUntil;
        private long suspended;

        private LeaseRequest request;
        private Lease lease;
        /** Commits that the state has which this machine serves; null: it serves none. */
        private Set<UUID> state;
        /** Place of the chain at which the part of this owner begins. */
        private int begin;
        /** Next place of the chain. */
        private int next;

        /** Acknowledged commits that a read has looked for. */
        private int seen;

        Machine(int number) {
            this.number = number;
        }

        @Override
        public long nanos() {
            return (long) ((now - suspended) * rate) + offset;
        }

        @Override
        public long millis() {
            return fault == Fault.ONE_CLOCK ? 0 : (long) (now * rate) / MS + offset;
        }

        boolean serves() {
            return state != null && lease.isValid();
        }

        void stop(long length, boolean isSuspended) {
            stoppedUntil = Math.max(stoppedUntil, now + length);
            suspended += isSuspended ? length : 0;
        }

        void kill() {
            process++;
            state = null;
            at(now + random.nextLong(20 * SECOND), this::boot);
        }

        private void boot() {
            process++;
            request = new LeaseRequest(
                    new LeaseObject("world", new Far(this)),
                    fault == Fault.IMPATIENT ? impatient() : LeaseTerms.DEFAULT,
                    this,
                    new UUID(number, random.nextLong()),
                    null);
            state = null;
            after(0, this::look);
        }

        private LeaseTerms impatient() {
            LeaseTerms terms = LeaseTerms.DEFAULT;
            return new LeaseTerms(
                    terms.serves().dividedBy(2), terms.serves(), terms.period(), terms.retry(), terms.patience());
        }

        /** Does something later, unless the process has ended by then. */
        private void after(long time, Runnable run) {
            int of = process;
            at(now + time, () -> resume(of, run));
        }

        private void resume(int of, Runnable run) {
            if (of != process) {
                return;
            } else if (now < stoppedUntil) {
                at(stoppedUntil, () -> resume(of, run));
                return;
            }
            try {
                run.run();
            } catch (Killed e) {
                // Its next process is on its way.
            }
        }

        /** Lets time pass for a call of this machine. */
        private void pass(long time) {
            int of = process;
            passTo(now + time);
            while (of == process && now < stoppedUntil) {
                passTo(stoppedUntil);
            }
            if (of != process) {
                throw new Killed();
            }
        }

        private void look() {
            try {
                Lease got = request.look();
                if (got == null) {
                    after(LeaseTerms.DEFAULT.retry().toNanos(), this::look);
                    return;
                }
                lease = got;
                after(LeaseTerms.DEFAULT.period().toNanos(), this::renew);
                open();
            } catch (LeaseHeldException e) {
                after(random.nextLong(5 * SECOND), this::boot);
            } catch (IOException e) {
                after(LeaseTerms.DEFAULT.retry().toNanos(), this::look);
            }
        }

        private void renew() {
            long pause = lease.renew().toNanos();
            if (lease.lost() != null) {
                losses++;
                process++;
                state = null;
                after(random.nextLong(5 * SECOND), this::boot);
                return;
            }
            after(pause, this::renew);
        }

        /** Ends the part of the owner before, as RemoteMetadata does. */
        private void open() {
            if (!isQuiet && random.nextInt(3) == 0) {
                // The metadata are brought from the store.
                pass(random.nextLong(20 * SECOND));
            }
            while (true) {
                int place = chain.size();
                Boolean got = put(place, new Entry(UUID.randomUUID(), false));
                if (got == null) {
                    process++;
                    after(random.nextLong(SECOND), this::boot);
                    return;
                } else if (got) {
                    begin = place;
                    next = place + 1;
                    break;
                }
            }
            if (fault != Fault.NO_CONFIRMATION && !isConfirmed()) {
                process++;
                after(random.nextLong(SECOND), this::boot);
                return;
            }
            state = new HashSet<>();
            chain.subList(0, next).stream().filter(Entry::isCommit).forEach(entry -> state.add(entry.token()));
            seen = 0;
            for (UUID commit : acknowledged) {
                // Others may have begun, and committed, while the answer was on its way.
                check(
                        places.getOrDefault(commit, -1) >= next || state.contains(commit),
                        "an acknowledged commit is not in the state of the next owner");
            }
            takeovers++;
            after(random.nextLong(SECOND), this::commit);
            after(random.nextLong(300 * MS), this::read);
        }

        /** Returns whether nobody has taken the lease before this owner's part of the chain began. */
        private boolean isConfirmed() {
            for (int tries = 0; tries < 10 && lease.lost() == null; tries++) {
                long began = nanos();
                var unused = lease.renew();
                if (lease.isRenewedSince(began)) {
                    return true;
                }
            }
            return false;
        }

        /** Puts an entry; returns null if it is not known whether it is there. */
        private Boolean put(int place, Entry entry) {
            for (int tries = 0; tries < 5; tries++) {
                try {
                    return ask(this, () -> {
                        if (place == chain.size()) {
                            add(entry);
                        }
                        return chain.get(place).token().equals(entry.token());
                    });
                } catch (IOException e) {
                    pass(random.nextLong(SECOND));
                }
            }
            return null;
        }

        private void commit() {
            if (!lease.isValid()) {
                // A program's request waits.
                after(LeaseTerms.DEFAULT.retry().toNanos(), this::commit);
                return;
            }
            UUID commit = UUID.randomUUID();
            int place = next;
            boolean isAcknowledged;
            if (fault == Fault.NO_FENCE) {
                isAcknowledged = lease.isValid();
                if (isAcknowledged) {
                    pass(delay());
                    add(new Entry(commit, true));
                }
            } else {
                Boolean got = put(next, new Entry(commit, true));
                isAcknowledged = got != null && got;
                if (!isAcknowledged) {
                    process++;
                    state = null;
                    after(random.nextLong(5 * SECOND), this::boot);
                    return;
                }
                next++;
            }
            if (isAcknowledged) {
                for (Machine other : machines) {
                    // The answer may have been on its way for long, but the commit itself was before.
                    check(
                            other.state == null || other.begin < place || other.state.contains(commit),
                            "an owner acknowledges a commit that the next one does not have");
                }
                state.add(commit);
                acknowledged.add(commit);
                commits++;
            }
            after(random.nextLong(idleNs), this::commit);
        }

        private void read() {
            boolean mayBeStale = now - brokenAt <= 10 * SECOND;
            if ((fault == Fault.NO_LEASE || lease.isValid()) && !mayBeStale) {
                reads++;
                for (; seen < acknowledged.size(); seen++) {
                    check(
                            state.contains(acknowledged.get(seen)),
                            "a read shows a state without an acknowledged commit");
                }
            }
            after(random.nextLong(300 * MS), this::read);
        }
    }

    private void add(Entry entry) {
        places.put(entry.token(), chain.size());
        chain.add(entry);
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private long delay() {
        return switch (isQuiet ? 2 : random.nextInt(20)) {
            case 0 -> random.nextLong(4 * SECOND);
            case 1 -> random.nextLong(SECOND);
            default -> random.nextLong(50 * MS);
        };
    }

    private boolean isLost() {
        return !isQuiet && random.nextInt(40) == 0;
    }

    private interface Effect<T> {
        T make() throws IOException;
    }

    /** Makes a request from a machine. */
    private <T> T ask(Machine machine, Effect<T> effect) throws IOException {
        machine.pass(delay());
        if (now < machine.cutUntil || isLost()) {
            machine.pass(random.nextLong(REQUEST_LIMIT));
            throw new UnavailableException("the request got lost");
        }
        T answer;
        IOException failure = null;
        try {
            answer = effect.make();
        } catch (IOException e) {
            answer = null;
            failure = e;
        }
        machine.pass(delay());
        if (now < machine.cutUntil || isLost()) {
            machine.pass(random.nextLong(REQUEST_LIMIT));
            throw new UnavailableException("the answer got lost");
        }
        if (failure != null) {
            throw failure;
        }
        return answer;
    }

    /** The objects as a machine has them. */
    private final class Far implements ReplaceableObjects {
        private final Machine machine;

        Far(Machine machine) {
            this.machine = machine;
        }

        @Override
        public Optional<Version> current(String name) throws IOException {
            return ask(machine, () -> objects.current(name));
        }

        @Override
        public String replace(String name, String expected, UUID token, byte[] contents) throws IOException {
            return ask(machine, () -> objects.replace(name, expected, token, contents));
        }
    }
}
