package org.opendedup.sar.metadata.db;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;

/**
 * Checks the ends of a database's write-ahead logs, and the end of its manifest, which has the same format. A power cut
 * leaves only parts of the record that was being written, and any parts: a disk writes its pages in any order. Every
 * earlier record was synced, as every batch is. So damage at the end without a later record after it belongs to a
 * record whose batch was never acknowledged, and can be cut off. (It may also belong to the last acknowledged record,
 * which a log alone cannot show: see {@link AcknowledgedSequence}.) Damage with a later record after it belongs to an
 * acknowledged record.
 *
 * <p>A record begins with the sequence number of its first change (8 bytes) and the number of its changes (4). Sequence
 * numbers rise by one with each change, over all logs. Records of a manifest have no such header.
 */
final class LogTail {
    private static final int RECORD_HEADER_BYTES = 12;
    private static final long NONE = -1;

    /** File that contains the manifest's name. */
    private static final String CURRENT = "CURRENT";

    private static final Pattern MANIFEST_NAME = Pattern.compile("MANIFEST-\\d{1,18}");
    private static final Pattern LOG_NAME = Pattern.compile("(\\d{1,18})\\.log");

    /**
     * The beginning of a log that can be replayed.
     *
     * @param length bytes that can be replayed
     * @param before bytes of the log as it is now
     */
    record Cut(Path log, long length, long before) {
        /** Cuts off the rest, durably. */
        void apply() throws IOException {
            try (FileChannel channel = FileChannel.open(log, StandardOpenOption.WRITE)) {
                channel.truncate(length);
                channel.force(true);
            }
        }

        /** Returns the bytes that would be cut off. */
        byte[] rest() throws IOException {
            try (FileChannel channel = FileChannel.open(log, StandardOpenOption.READ)) {
                return Channels.newInputStream(channel.position(length)).readAllBytes();
            }
        }

        /** Appends the bytes that were cut off. */
        void undo(byte[] rest) throws IOException {
            Files.write(log, rest, StandardOpenOption.APPEND);
        }

        @Override
        public String toString() {
            return log.getFileName() + " from byte " + length + " to its end at " + before;
        }
    }

    private final boolean isSequenced;
    private final ByteBuffer recordHeader;
    private final List<Cut> cuts = new ArrayList<>();
    private String damage = "";

    private String gap = "";
    private long intactBytes;
    /** Where the first change is damaged or missing. */
    private @Nullable Break first;
    /** The highest sequence number of a change behind damage in its log. */
    private long behindDamage = NONE;

    /**
     * Where a change is damaged or missing.
     *
     * @param sequence of the last change before it
     */
    private record Break(Path log, long offset, long sequence) {}

    /**
     * The highest sequence number of the complete records read up to now; in a manifest, the highest that is in the
     * tables.
     */
    private long lastSequence = NONE;

    /** The highest sequence number that is in the tables; {@link #NONE} if unknown, or in a manifest. */
    private long inTables = NONE;

    /** Whether the end of an earlier log is cut off and no record was read since. */
    private boolean openEnd;

    private LogTail(boolean isSequenced, int headerBytes) {
        this.isSequenced = isSequenced;
        recordHeader = ByteBuffer.allocate(headerBytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Reads the manifest of a database that is not open: RocksDB syncs each of its records and only then deletes the
     * files that they replace.
     */
    static LogTail ofManifest(Path folder) throws IOException {
        LogTail tail = new LogTail(false, ManifestRecord.PREFIX_BYTES);
        String name = manifestName(folder);
        // RocksDB reports other damage of it.
        if (MANIFEST_NAME.matcher(name).matches() && Files.exists(folder.resolve(name))) {
            tail.read(folder.resolve(name));
            tail.intactBytes = tail.cuts.isEmpty() ? Files.size(folder.resolve(name)) : tail.cuts.get(0).length;
        }
        return tail;
    }

    /** Returns the name of the manifest in use, as the database's folder tells it. */
    static String manifestName(Path folder) throws IOException {
        return Files.readString(folder.resolve(CURRENT), StandardCharsets.ISO_8859_1)
                .strip();
    }

    /** Returns how many bytes of the manifest can be read from its begin. */
    long intactBytes() {
        return intactBytes;
    }

    /**
     * Reads all logs of a database that is not open.
     *
     * @param manifest its manifest, as read before
     */
    static LogTail ofLogs(Path folder, LogTail manifest) throws IOException {
        return ofLogs(logs(folder), manifest);
    }

    /** Returns the logs of a database by their numbers. */
    private static NavigableMap<Long, Path> logs(Path folder) throws IOException {
        NavigableMap<Long, Path> logs = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.log")) {
            for (Path file : files) {
                Matcher name = LOG_NAME.matcher(file.getFileName().toString());
                if (name.matches()) {
                    logs.put(Long.parseLong(name.group(1)), file);
                }
            }
        }
        return logs;
    }

    private static LogTail ofLogs(NavigableMap<Long, Path> logs, LogTail manifest) throws IOException {
        LogTail tail = new LogTail(true, RECORD_HEADER_BYTES);
        tail.inTables = manifest.lastSequence;
        for (Path log : logs.values()) {
            tail.read(log);
        }
        return tail;
    }

    /**
     * Cuts the logs of a damaged database that is not open where the first change is damaged or missing, so that what
     * can be replayed is a state in which the database once was. RocksDB would replay what follows the damage.
     *
     * @return the highest sequence number of the changes that could be read, also after the damage; 0 if there is none
     * @throws CorruptionException if later changes may be in tables of some families: then no such state is there
     */
    static long cutAtDamage(Path folder) throws IOException {
        LogTail manifest = ofManifest(folder);
        NavigableMap<Long, Path> logs = logs(folder);
        LogTail tail = ofLogs(logs, manifest);
        Break first = tail.first;
        if (first != null) {
            List<Path> later = new ArrayList<>();
            for (Path log : logs.values()) {
                if (!later.isEmpty() || log.equals(first.log)) {
                    later.add(log);
                }
            }
            later.remove(0);
            boolean isNewest = later.stream().allMatch(log -> log.toFile().length() == 0);
            if (!isNewest && manifest.lastSequence > first.sequence) {
                // A family whose records were written to a table has no log before the next one.
                throw new CorruptionException(
                        folder.toString(),
                        -1,
                        "a log that is whole up to what the tables have",
                        "one that is damaged before, in " + first.log.getFileName() + " at byte " + first.offset
                                + ": some records are older than others");
            }
            new Cut(first.log, first.offset, Files.size(first.log)).apply();
            for (Path log : later) {
                Files.delete(log);
            }
        }
        return Math.max(0, Math.max(tail.lastSequence, tail.behindDamage));
    }

    private void read(Path log) throws IOException {
        OneLog reader = new OneLog(log);
        new LogFragments().read(log, reader);
        reader.end();
    }

    /**
     * Returns the cuts that are necessary so that all logs can be replayed; empty if the logs are complete, or if there
     * is {@link #damage}.
     */
    List<Cut> cuts() {
        return damage.isEmpty() ? List.copyOf(cuts) : List.of();
    }

    /** Returns where an acknowledged record is damaged, as text; empty if none is. */
    String damage() {
        return damage;
    }

    /**
     * Returns which changes are neither in the tables that the manifest names nor in the logs, although later ones are,
     * as text; empty if there is no such gap. RocksDB does not notice it: the manifest ends too early, or a log is
     * missing.
     */
    String gap() {
        return gap;
    }

    private void damaged(Path log, long offset, String laterPlace) {
        if (damage.isEmpty()) {
            damage = log.getFileName() + " is damaged at byte " + offset + ", and a later record follows " + laterPlace;
        }
    }

    private final class OneLog implements LogFragments.Visitor {
        private final Path log;

        /** Offset of the record whose last fragment was not read yet. */
        private long recordAt = NONE;

        /** Whether the log contains a complete record. */
        private boolean hasRecord;

        /** Offset of the first record that is not complete. */
        private long damageAt = NONE;

        /** After the damage: whether the damaged record's last fragment was read. */
        private boolean damagedRecordEnded;

        /**
         * After the damage: whether the current record's first fragment was not from a later record; its last fragment
         * was not read yet.
         */
        private boolean stale;

        OneLog(Path log) {
            this.log = log;
        }

        @Override
        public void damage(long offset) {
            if (damageAt == NONE) {
                damageAt = recordAt == NONE ? offset : recordAt;
                recordAt = NONE;
                breaksAt(damageAt, lastSequence);
            }
        }

        private void breaksAt(long offset, long sequence) {
            if (first == null) {
                first = new Break(log, offset, sequence);
            }
        }

        @Override
        public void fragment(LogFragments.Type type, long offset, ByteBuffer payload) {
            boolean begins = type == LogFragments.Type.WHOLE || type == LogFragments.Type.FIRST;
            boolean continues = type == LogFragments.Type.MIDDLE || type == LogFragments.Type.LAST;
            if (begins ? recordAt != NONE : continues && recordAt == NONE) {
                damage(offset); // the last or the first fragment of a record is missing
            }
            if (damageAt != NONE) {
                behindDamage(type, offset, payload);
            } else if (begins || continues) {
                intact(type, offset, payload);
            }
        }

        private void intact(LogFragments.Type type, long offset, ByteBuffer payload) {
            if (recordAt == NONE) {
                recordAt = offset;
                recordHeader.clear();
            }
            recordHeader.put(payload.limit(Math.min(payload.limit(), recordHeader.remaining())));
            if (type == LogFragments.Type.WHOLE || type == LogFragments.Type.LAST) {
                endOfRecord();
            }
        }

        private void endOfRecord() {
            long begin = recordAt;
            recordAt = NONE;
            if (isSequenced) {
                endOfSequenced(begin);
            } else {
                lastSequence = Math.max(lastSequence, ManifestRecord.lastSequence(recordHeader.flip()));
            }
        }

        private void endOfSequenced(long begin) {
            if (recordHeader.hasRemaining()) {
                damage(begin);
                return;
            }
            long sequence = recordHeader.getLong(0);
            if (openEnd && sequence != lastSequence + 1) {
                Cut cut = cuts.get(cuts.size() - 1);
                damaged(cut.log, cut.length, "in " + log.getFileName());
            }
            openEnd = false;
            long present = Math.max(lastSequence, inTables);
            if (inTables != NONE && sequence > present + 1 && gap.isEmpty()) {
                gap = "number " + (present + 1) + " to " + (sequence - 1) + ", before byte " + begin + " of "
                        + log.getFileName();
                breaksAt(begin, present);
            }
            lastSequence = Math.max(lastSequence, sequence + recordHeader.getInt(8) - 1);
            hasRecord = true;
        }

        private void behindDamage(LogFragments.Type type, long offset, ByteBuffer payload) {
            switch (type) {
                case WHOLE, FIRST -> {
                    boolean isOlder = isStale(offset, payload);
                    if (!isOlder) {
                        damaged(log, damageAt, "at byte " + offset);
                        noteBehind(payload);
                    }
                    stale = isOlder && type == LogFragments.Type.FIRST;
                }
                case MIDDLE, LAST -> {
                    if (!stale) {
                        if (damagedRecordEnded) {
                            damaged(log, damageAt, "at byte " + offset);
                        }
                        damagedRecordEnded = type == LogFragments.Type.LAST;
                    }
                    stale &= type == LogFragments.Type.MIDDLE;
                }
                default -> damaged(log, damageAt, "at byte " + offset);
            }
        }

        private void noteBehind(ByteBuffer payload) {
            if (isSequenced && payload.limit() >= RECORD_HEADER_BYTES) {
                behindDamage = Math.max(behindDamage, payload.getLong(0) + payload.getInt(8) - 1);
            }
        }

        /**
         * Returns whether a record cannot be a later one of this log. A file system may show a lost page with the bytes
         * that a deleted file had there: those of an older log, for instance. And bytes inside a record may look like a
         * record, because users choose the names in it.
         */
        private boolean isStale(long offset, ByteBuffer payload) {
            if (!isSequenced || payload.limit() < RECORD_HEADER_BYTES) {
                return false;
            }
            long sequence = payload.getLong(0);
            long atMost = lastSequence + 1 + (offset - damageAt); // a change is longer than one byte
            return sequence <= lastSequence || hasRecord && sequence > atMost;
        }

        void end() throws IOException {
            if (recordAt != NONE) {
                damage(recordAt);
            }
            if (damageAt != NONE) {
                cuts.add(new Cut(log, damageAt, Files.size(log)));
                openEnd = true;
            }
        }
    }
}
