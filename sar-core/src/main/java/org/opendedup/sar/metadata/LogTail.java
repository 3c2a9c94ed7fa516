package org.opendedup.sar.metadata;

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

/**
 * Judges the ends of a database's write-ahead logs, and that of its manifest, which has the same format. A power cut leaves the record that was being written there in part, in any
 * part: a disk writes its pages in any order. Every record before it was synced, as every batch is. So damage at the end, with no later
 * record behind it, is that of a record whose batch was never acknowledged (or of the last one that was, which a log cannot tell: see
 * {@link AcknowledgedSequence}), and can be cut off. Damage with a later record behind it is that of an acknowledged one.
 *
 * <p>A record begins with the sequence number of its first change (8 bytes) and the number of its changes (4): numbers rise by one
 * with each change, over all logs. Records of a manifest have no such header.
 */
final class LogTail {
    private static final int RECORD_HEADER_BYTES = 12;
    private static final long NONE = -1;

    /** Names the manifest. */
    private static final String CURRENT = "CURRENT";

    private static final Pattern MANIFEST_NAME = Pattern.compile("MANIFEST-\\d{1,18}");
    private static final Pattern LOG_NAME = Pattern.compile("(\\d{1,18})\\.log");

    /** What of a log can be replayed: its beginning. */
    record Cut(Path log, long length, long before) {
        /** Cuts the rest off, durably. */
        void apply() throws IOException {
            try (FileChannel channel = FileChannel.open(log, StandardOpenOption.WRITE)) {
                channel.truncate(length);
                channel.force(true);
            }
        }

        /** What would be cut off. */
        byte[] rest() throws IOException {
            try (FileChannel channel = FileChannel.open(log, StandardOpenOption.READ)) {
                return Channels.newInputStream(channel.position(length)).readAllBytes();
            }
        }

        /** Appends what was cut off. */
        void undo(byte[] rest) throws IOException {
            Files.write(log, rest, StandardOpenOption.APPEND);
        }

        @Override
        public String toString() {
            return log.getFileName() + " from byte " + length + " to its end at " + before;
        }
    }

    private final boolean isSequenced;
    private final List<Cut> cuts = new ArrayList<>();
    private String damage = "";

    /** The highest sequence number of the complete records so far. */
    private long lastSequence = NONE;

    /** The end of an earlier log is cut off, and no record came since. */
    private boolean openEnd;

    private LogTail(boolean isSequenced) {
        this.isSequenced = isSequenced;
    }

    /** Reads the manifest of a database that nobody has open: RocksDB syncs each of its records before it deletes what they replace. */
    static LogTail ofManifest(Path folder) throws IOException {
        LogTail tail = new LogTail(false);
        String name = Files.readString(folder.resolve(CURRENT), StandardCharsets.ISO_8859_1)
                .strip();
        // What else is wrong with it, RocksDB says.
        if (MANIFEST_NAME.matcher(name).matches() && Files.exists(folder.resolve(name))) {
            tail.read(folder.resolve(name));
        }
        return tail;
    }

    /** Reads all logs of a database that nobody has open. */
    static LogTail ofLogs(Path folder) throws IOException {
        NavigableMap<Long, Path> logs = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.log")) {
            for (Path file : files) {
                Matcher name = LOG_NAME.matcher(file.getFileName().toString());
                if (name.matches()) {
                    logs.put(Long.parseLong(name.group(1)), file);
                }
            }
        }
        LogTail tail = new LogTail(true);
        for (Path log : logs.values()) {
            tail.read(log);
        }
        return tail;
    }

    private void read(Path log) throws IOException {
        OneLog reader = new OneLog(log);
        new LogFragments().read(log, reader);
        reader.end();
    }

    /** What must be cut off before all of the logs can be replayed; none if they are whole, or {@link #damage} is there. */
    List<Cut> cuts() {
        return damage.isEmpty() ? List.copyOf(cuts) : List.of();
    }

    /** Where an acknowledged record is damaged, in words; empty if none is. */
    String damage() {
        return damage;
    }

    private void damaged(Path log, long offset, String behind) {
        if (damage.isEmpty()) {
            damage = log.getFileName() + " is damaged at byte " + offset + ", and a later record follows " + behind;
        }
    }

    private final class OneLog implements LogFragments.Visitor {
        private final Path log;

        /** Where the record begins whose last fragment did not come yet. */
        private long recordAt = NONE;

        private final ByteBuffer recordHeader =
                ByteBuffer.allocate(RECORD_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);

        /** The log holds a complete record. */
        private boolean hasRecord;

        /** Where the first record begins that is not complete. */
        private long damageAt = NONE;

        /** Behind the damage: the damaged record's last fragment came. */
        private boolean damagedRecordEnded;

        /** Behind the damage: a record's first fragment was no later record's, and its last one did not come yet. */
        private boolean stale;

        OneLog(Path log) {
            this.log = log;
        }

        @Override
        public void damage(long offset) {
            if (damageAt == NONE) {
                damageAt = recordAt == NONE ? offset : recordAt;
                recordAt = NONE;
            }
        }

        @Override
        public void fragment(LogFragments.Type type, long offset, ByteBuffer payload) {
            boolean begins = type == LogFragments.Type.WHOLE || type == LogFragments.Type.FIRST;
            boolean continues = type == LogFragments.Type.MIDDLE || type == LogFragments.Type.LAST;
            if (begins ? recordAt != NONE : continues && recordAt == NONE) {
                damage(offset); // an end, or a beginning, is missing
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
            lastSequence = Math.max(lastSequence, sequence + recordHeader.getInt(8) - 1);
            hasRecord = true;
        }

        private void behindDamage(LogFragments.Type type, long offset, ByteBuffer payload) {
            switch (type) {
                case WHOLE, FIRST -> {
                    boolean isOlder = isStale(offset, payload);
                    if (!isOlder) {
                        damaged(log, damageAt, "at byte " + offset);
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

        /**
         * Whether a record cannot be a later one of this log. A file system may show a lost page as the bytes that a file deleted
         * before had there: of an older log, for instance. And a record's bytes may look like a record: names are their users'.
         */
        private boolean isStale(long offset, ByteBuffer payload) {
            if (!isSequenced || payload.limit() < RECORD_HEADER_BYTES) {
                return false;
            }
            long sequence = payload.getLong(0);
            long atMost = lastSequence + 1 + (offset - damageAt); // a change takes more than a byte
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
