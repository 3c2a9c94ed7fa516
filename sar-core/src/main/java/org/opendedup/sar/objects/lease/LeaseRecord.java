package org.opendedup.sar.objects.lease;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * The contents of the object that is a lease: lines of ASCII, each of a word and its value. The times are those of the
 * owner's machine, for people; nobody decides by them.
 *
 * @param epoch number of the owner: 1 is the first one's
 * @param owner made at random for each owner, so its renewals are known by it
 * @param machine name of the owner's machine
 * @param process the owner's process on that machine
 * @param since when it got the lease
 * @param renewed when it renewed it last
 * @param renewals how many times it did so
 * @param note what it has said of what the lease protects, for the next owner; {@link #NO_NOTE}: nothing
 */
public record LeaseRecord(
        State state,
        long epoch,
        UUID owner,
        String machine,
        long process,
        Instant since,
        Instant renewed,
        long renewals,
        String note) {
    /** Note of an owner that has not said anything. */
    public static final String NO_NOTE = "none";

    static final int VERSION = 2;
    private static final String MAGIC = "SAR-LEASE";
    private static final Pattern MACHINE = Pattern.compile("[A-Za-z0-9._-]{1,255}");
    private static final Pattern NOTE = Pattern.compile("[A-Za-z0-9. -]{1,255}");
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

    /** What an owner, or an administrator, has said last. */
    public enum State {
        /** The owner uses it, or is gone without a word. */
        HELD,
        /** The owner has closed what it used, in order. */
        RELEASED,
        /** An administrator has taken it away. */
        BROKEN;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Returns the record of this process as the owner after another one. */
    static LeaseRecord ofThisProcess(UUID owner, Instant now) {
        return new LeaseRecord(
                State.HELD, 1, owner, machineName(), ProcessHandle.current().pid(), now, now, 0, NO_NOTE);
    }

    private static String machineName() {
        try {
            String name = Files.readString(HOST_NAME).strip().replaceAll("[^A-Za-z0-9._-]", "_");
            return name.isEmpty() ? "unknown" : name;
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** The note of the owner before stays until this one has its own. */
    LeaseRecord after(LeaseRecord before) {
        return new LeaseRecord(state, before.epoch + 1, owner, machine, process, since, renewed, renewals, before.note);
    }

    LeaseRecord renewedAt(Instant now) {
        return new LeaseRecord(state, epoch, owner, machine, process, since, now, renewals + 1, note);
    }

    /** Returns the record in another state. */
    public LeaseRecord in(State next) {
        return new LeaseRecord(next, epoch, owner, machine, process, since, renewed, renewals, note);
    }

    LeaseRecord noting(String now) {
        return new LeaseRecord(state, epoch, owner, machine, process, since, renewed, renewals, now);
    }

    boolean isHeldBy(UUID who) {
        return state == State.HELD && owner.equals(who);
    }

    byte[] encode() {
        return String.format(
                        Locale.ROOT,
                        "%s %d%nstate %s%nepoch %d%nowner %s%nmachine %s%nprocess %d%nsince %s%nrenewed %s%n"
                                + "renewals %d%nnote %s%n",
                        MAGIC,
                        VERSION,
                        state.text(),
                        epoch,
                        owner,
                        machine,
                        process,
                        since,
                        renewed,
                        renewals,
                        note)
                .getBytes(US_ASCII);
    }

    /** @param place names the object in messages */
    static LeaseRecord decode(byte[] bytes, String place) throws CorruptionException, UnsupportedFormatException {
        Map<String, String> values = new HashMap<>();
        for (String line : new String(bytes, US_ASCII).split("\n")) {
            String[] parts = line.split(" ", 2);
            values.put(parts[0], parts.length < 2 ? "" : parts[1]);
        }
        try {
            int version = Integer.parseInt(values.getOrDefault(MAGIC, ""));
            if (version != VERSION) {
                throw new UnsupportedFormatException(place, version, VERSION);
            }
            return new LeaseRecord(
                    State.valueOf(values.getOrDefault("state", "").toUpperCase(Locale.ROOT)),
                    Long.parseLong(values.getOrDefault("epoch", "")),
                    UUID.fromString(values.getOrDefault("owner", "")),
                    matching(MACHINE, values.getOrDefault("machine", "")),
                    Long.parseLong(values.getOrDefault("process", "")),
                    Instant.parse(values.getOrDefault("since", "")),
                    Instant.parse(values.getOrDefault("renewed", "")),
                    Long.parseLong(values.getOrDefault("renewals", "")),
                    matching(NOTE, values.getOrDefault("note", "")));
        } catch (IllegalArgumentException | DateTimeException e) {
            CorruptionException damaged = new CorruptionException(place, -1, "the lines of a lease", "something else");
            damaged.initCause(e);
            throw damaged;
        }
    }

    /** Whoever can write to the store may have made the text; it is shown on terminals. */
    private static String matching(Pattern form, String text) {
        if (!form.matcher(text).matches()) {
            throw new IllegalArgumentException("not of the form " + form);
        }
        return text;
    }

    /** Returns the state as a word. */
    public String stateText() {
        return state.text();
    }

    /** Returns who the owner is, as a part of a sentence. */
    public String ownerText() {
        return "process " + process + " on " + machine;
    }
}
