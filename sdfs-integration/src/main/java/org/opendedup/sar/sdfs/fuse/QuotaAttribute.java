package org.opendedup.sar.sdfs.fuse;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;
import java.util.List;
import org.opendedup.sar.metadata.quota.QuotaState;
import org.opendedup.sar.metadata.record.QuotaLimits;

/**
 * The extended attribute by which whoever reads a file or folder sees quotas of his own: those of his user, of his
 * group, of the group of the file if he is in it, and of the folder with a quota that it lies in. It is computed for
 * the caller, never stored, and not listed, so no program copies it. quotactl(2) cannot ask a FUSE file system.
 */
public final class QuotaAttribute {
    private static final byte[] NAME = "user.sdfs.quota".getBytes(US_ASCII);

    private QuotaAttribute() {}

    /** Returns whether an extended attribute of this name is computed. */
    public static boolean is(byte[] name) {
        return Arrays.equals(name, NAME);
    }

    /**
     * Returns the value: a line for each quota, with the keys of {@code sdfscli VOLUME quota report --json}. Limits are
     * 0 if there are none; what is left of a grace time is in seconds, and absent if no soft limit is exceeded.
     *
     * @param nowMs the present time, in milliseconds since 1970
     */
    static byte[] value(List<QuotaState> states, long nowMs) {
        var text = new StringBuilder();
        for (QuotaState state : states) {
            QuotaLimits limits = state.limits();
            text.append(state.id())
                    .append(": bytes=" + state.bytes())
                    .append(" softBytes=" + limits.softBytes())
                    .append(" hardBytes=" + limits.hardBytes())
                    .append(left("bytes", state.bytesGraceEndMs(), nowMs))
                    .append(" files=" + state.files())
                    .append(" softFiles=" + limits.softFiles())
                    .append(" hardFiles=" + limits.hardFiles())
                    .append(left("files", state.filesGraceEndMs(), nowMs))
                    .append('\n');
        }
        return text.toString().getBytes(US_ASCII);
    }

    private static String left(String of, long endMs, long nowMs) {
        return endMs == 0 ? "" : " " + of + "GraceLeft=" + Math.max(0, (endMs - nowMs) / 1000);
    }
}
