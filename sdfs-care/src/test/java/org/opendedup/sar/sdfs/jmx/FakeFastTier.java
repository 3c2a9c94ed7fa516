package org.opendedup.sar.sdfs.jmx;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.raw.FastTier;

/** A fast tier with some figures, to be changed by tests. */
public final class FakeFastTier implements TierWork {
    public RawSettings settings = RawSettings.NONE;
    public @Nullable String absent = "the volume has none";
    public @Nullable String hanging;
    public long files;
    public long changedFiles;
    public long lostFiles;
    final List<String> calls = new ArrayList<>();

    public FastTier.Summary summary() {
        return new FastTier.Summary(settings, absent, hanging, files, changedFiles, (files + changedFiles) << 20);
    }

    public FastTier.Status status() {
        return new FastTier.Status(
                settings,
                absent,
                hanging,
                files,
                changedFiles,
                changedFiles << 20,
                (files + changedFiles) << 20,
                3,
                3 << 20,
                2,
                1,
                absent == null,
                5,
                5 << 20,
                2,
                2 << 20,
                7,
                7 << 20);
    }

    @Override
    public void start(Kind kind, String path) {
        calls.add(kind + " " + path);
    }

    @Override
    public boolean attach(boolean makeNew) {
        calls.add("attach " + makeNew);
        return true;
    }

    public FastTierFigures figures() {
        return FastTierFigures.of(summary(), status(), lostFiles);
    }
}
