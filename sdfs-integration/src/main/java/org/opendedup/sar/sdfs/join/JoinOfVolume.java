package org.opendedup.sar.sdfs.join;

import java.io.IOException;
import java.time.Duration;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinProgress;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.LossSample;
import org.opendedup.sar.volume.rewrite.VolumeJoin;

/** The exact pass of an open volume. */
public record JoinOfVolume(VolumeJoin volume) implements JoinSource {
    @Override
    public void requireAllowed() throws IOException {
        volume.requireAllowed();
    }

    @Override
    public JoinReport join(JoinProgress progress) throws IOException {
        return volume.run(JoinLimits.ALL, progress);
    }

    @Override
    public JoinReport joinWhatIsWorthIt(JoinProgress progress) throws IOException {
        return volume.runGivingWay(JoinLimits.WORTHWHILE, progress);
    }

    @Override
    public boolean isWorthwhile() throws IOException {
        return volume.isWorthwhile();
    }

    @Override
    public Duration quiet() {
        return volume.quiet();
    }

    @Override
    public LossSample.Estimate estimate() {
        return volume.estimate();
    }
}
