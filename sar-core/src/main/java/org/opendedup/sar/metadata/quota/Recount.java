package org.opendedup.sar.metadata.quota;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaId.Kind;
import org.opendedup.sar.metadata.record.QuotaRecord;

/** Counts by all inodes what each user, group and project uses. Takes some 150 bytes for each of them. */
public final class Recount {
    private static final class Sum {
        long bytes;
        long files;
    }

    /** A record that differs from what the inodes say. */
    public record Difference(QuotaId id, @Nullable QuotaRecord record, long bytes, long files) {
        /** Returns the record as it must be; limits of a damaged one are lost. */
        public QuotaRecord corrected() {
            return (record == null ? QuotaRecord.NONE : record).withAmounts(bytes, files);
        }

        /** Returns a sentence for a user. */
        public String text() {
            return record == null
                    ? "the record of what " + id + " uses is damaged; limits that it had are lost"
                    : "the volume counts " + record.bytes() + " bytes and " + record.files() + " inodes for " + id
                            + " and its inodes have " + bytes + " bytes and are " + files;
        }
    }

    private final Map<QuotaId, Sum> sums = new HashMap<>();

    public void add(Inode inode) {
        add(new QuotaId(Kind.USER, inode.uid()), inode);
        add(new QuotaId(Kind.GROUP, inode.gid()), inode);
        if (inode.project() != 0) {
            add(new QuotaId(Kind.PROJECT, inode.project()), inode);
        }
    }

    private void add(QuotaId id, Inode inode) {
        Sum sum = sums.computeIfAbsent(id, key -> new Sum());
        sum.bytes += inode.dataBytes();
        sum.files++;
    }

    /**
     * Compares with the records of a database.
     *
     * @param records a value is null if its record is damaged
     */
    public List<Difference> differences(Map<QuotaId, @Nullable QuotaRecord> records) {
        Set<QuotaId> ids = new TreeSet<>(Comparator.comparing(QuotaId::kind).thenComparing(QuotaId::number));
        ids.addAll(sums.keySet());
        ids.addAll(records.keySet());
        List<Difference> found = new ArrayList<>();
        for (QuotaId id : ids) {
            Sum sum = sums.getOrDefault(id, new Sum());
            QuotaRecord record = records.containsKey(id) ? records.get(id) : QuotaRecord.NONE;
            if (record == null || record.bytes() != sum.bytes || record.files() != sum.files) {
                found.add(new Difference(id, record, sum.bytes, sum.files));
            }
        }
        return found;
    }
}
