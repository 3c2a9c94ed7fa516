package org.opendedup.sar.sdfs.join;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.JoinSource;
import org.opendedup.sar.join.LossSample;

/** An exact pass with invented figures. */
public class FakeJoin implements JoinSource {
    /** True while a pass goes on only to see whether it is stopped. */
    public volatile boolean endless;

    /** What the next pass fails with. */
    public volatile @Nullable IOException failure;

    /** Whether passes end before they have joined everything. */
    public volatile boolean endsEarly;

    @Override
    public JoinReport run(JoinLimits limits, Progress progress) throws IOException {
        IOException broken = failure;
        if (broken != null) {
            throw broken;
        }
        do {
            progress.at(JOINING, 3, 4);
            Thread.onSpinWait();
        } while (endless);
        return new JoinReport(40, 1, 7, 7 << 20, 6, 6 << 20, 9, 1, !endsEarly);
    }

    /** Number of passes that were asked to join only what is worth it. */
    public final AtomicInteger selective = new AtomicInteger();

    /** Whether a pass is worth it. */
    public volatile boolean worthwhile;

    /** How long programs have not used the volume. */
    public volatile Duration quiet = Duration.ZERO;

    @Override
    public JoinReport runGivingWay(JoinLimits limits, Progress progress) throws IOException {
        selective.incrementAndGet();
        return run(limits, progress);
    }

    @Override
    public boolean isWorthwhile() {
        return worthwhile;
    }

    @Override
    public Duration quiet() {
        return quiet;
    }

    @Override
    public LossSample.Estimate estimate() {
        return new LossSample.Estimate(5 << 20, true, 0);
    }
}
