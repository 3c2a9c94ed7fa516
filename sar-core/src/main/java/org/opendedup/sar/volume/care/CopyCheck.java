package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.check.Mend;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.hot.SsdAudit;
import org.opendedup.sar.scrub.IndexCheck;
import org.opendedup.sar.scrub.MapTableCheck;
import org.opendedup.sar.scrub.Scrubber;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.engine.ChunkEngine;
import org.opendedup.sar.volume.engine.EngineInUse;

/**
 * The part of the check of a volume in use that compares what can be made anew with the containers: the fingerprint
 * index and the SSD's Map table. Both are in no cut of the metadata, so they are compared as they are now.
 */
final class CopyCheck {
    private final VolumeConfig config;
    private final ChunkEngine engine;
    private final Scratch scratch;
    private final Mend mend;
    private final Scrubber.Parts parts;
    private final List<Finding> findings = new ArrayList<>();

    /** @param scratch where the entries of the index are sorted */
    CopyCheck(VolumeConfig config, EngineInUse volume, Scratch scratch) {
        this.config = config;
        engine = volume.engine();
        this.scratch = scratch;
        mend = new Mend(config.name(), true, engine.metadata().header().contents());
        parts = volume.toScrub();
    }

    List<Finding> run(Progress progress) throws IOException {
        index(progress);
        mapTable(progress);
        return findings;
    }

    private void index(Progress progress) throws IOException {
        if (!engine.index().keepsAnything()) {
            return; // The health of the volume says so.
        }
        IndexCheck.Report found = new IndexCheck(engine.index(), parts, progress)
                .run(scratch.directory(), scratch.steps(), (int) scratch.memoryBytes(), scratch.keys());
        String anew = mend.of(Kind.INDEX, config.locations().hashDb().toString());
        if (found.wrong() > 0) {
            add(
                    Severity.DEFECT,
                    Kind.INDEX,
                    found.wrong() + " of " + found.entries()
                            + " entries of the fingerprint index name chunks of other content; what is written may be"
                            + " taken for them" + some(found.named()),
                    anew);
        }
        if (found.stale() > 0) {
            add(
                    Severity.NOTE,
                    Kind.INDEX,
                    found.stale() + " of " + found.entries()
                            + " entries of the fingerprint index name chunks that are not stored; such entries are"
                            + " not used" + some(found.named()),
                    anew);
        }
        notChecked("the fingerprint index", found.notChecked(), anew);
    }

    private void mapTable(Progress progress) throws IOException {
        SsdAudit audit = engine.hot().audit();
        if (audit == null) {
            return;
        }
        MapTableCheck.Report found = new MapTableCheck(audit, parts, progress).run();
        if (found.nowhere() > 0) {
            add(
                    Severity.NOTE,
                    Kind.SSD,
                    found.nowhere() + " of " + found.copies()
                            + " entries of the SSD's Map table name chunks that are not stored; they occupy space"
                            + some(found.named()),
                    mend.of(Kind.SSD, ""));
        }
        notChecked("the SSD's Map table", found.notChecked(), mend.of(Kind.NOT_CHECKED, ""));
    }

    private void notChecked(String part, @Nullable String why, String mend) {
        if (why != null) {
            add(Severity.NOTE, Kind.NOT_CHECKED, part + " could not be compared with the containers: " + why, mend);
        }
    }

    private static String some(List<String> named) {
        return named.isEmpty() ? "" : ": " + String.join("; ", named);
    }

    private void add(Severity severity, Kind kind, String what, String mend) {
        findings.add(new Finding(severity, kind, what, List.of(), List.of(), mend));
    }
}
