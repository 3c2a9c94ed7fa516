package org.opendedup.sar.sdfs.heal;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.heal.HealProgress;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.heal.HealSource;

/** Heals chunks of containers, one in each; all but {@link #unhealed} of them. */
public final class FakeHeal implements HealSource {
    public static final int CHUNKS = 10;

    /** Containers after which it goes on only to see whether it is stopped; none if it is negative. */
    public volatile int waitsAt = -1;

    /** Chunks that stay damaged. */
    public volatile int unhealed;

    /** Containers that are missing. */
    public volatile int missing;

    /** What the next pass fails with. */
    public volatile @Nullable IOException failure;

    private volatile int healed;

    @Override
    public HealReport run(HealProgress progress) throws IOException {
        IOException broken = failure;
        if (broken != null) {
            throw broken;
        }
        while (true) {
            if (!progress.examined(report(List.of()))) {
                throw new InterruptedIOException("stopped");
            }
            if (healed >= CHUNKS - unhealed) {
                return report(
                        unhealed == 0
                                ? List.of()
                                : List.of(new HealReport.Unhealed(7, 0, unhealed, "no copy is known")));
            }
            if (healed == waitsAt) {
                Thread.onSpinWait();
            } else {
                healed++;
            }
        }
    }

    private HealReport report(List<HealReport.Unhealed> stay) {
        return new HealReport(healed, healed, 0, 0, healed, 0, stay, stay.isEmpty() ? 0 : unhealed);
    }

    @Override
    public long healedChunks() {
        return healed;
    }

    @Override
    public long unhealedChunks() {
        return CHUNKS - healed;
    }

    @Override
    public long missingContainers() {
        return missing;
    }
}
