package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Set;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.metadata.record.ScrubCursor;
import org.opendedup.sar.metadata.record.ScrubPhase;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.scrub.ScrubProgress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of a scrub that compares the references of all files with the directories of the containers and with the
 * counts, by a check of the volume in use. It begins again when it is continued. For use by one thread.
 */
final class ReferenceScrub {
    private static final Logger log = LoggerFactory.getLogger(ReferenceScrub.class);

    /** Findings of which each has a line in the log, and files that a line names. */
    private static final int MOST_LINES = 100;

    private static final int MOST_FILES = 10;

    /** About what is read for one unit of the check: the directory of a container, or some records. */
    private static final int DIRECTORY_BYTES = 32 << 10;

    private static final int RECORDS_BYTES = 256;

    /** What the verification of the containers has found already. */
    private static final Set<Kind> OF_CONTAINERS = Set.of(
            Kind.MISSING_PACK,
            Kind.PACK_HEADER,
            Kind.MISSING_CONTAINER,
            Kind.CONTAINER_HEADER,
            Kind.MISSING_CHUNKS,
            Kind.DAMAGED_CHUNKS,
            Kind.NOT_CHECKED);

    private final VolumeCheck check;
    private final Pace pace;
    private final ScrubProgress progress;
    private final long restBytes;
    private ScrubTotals totals = ScrubTotals.NONE;

    /** @param restBytes bytes that later parts of the scrub verify */
    ReferenceScrub(VolumeCheck check, Pace pace, ScrubProgress progress, long restBytes) {
        this.check = check;
        this.pace = pace;
        this.progress = progress;
        this.restBytes = restBytes;
    }

    /** The scrub is paused: the check must not keep collections waiting meanwhile. */
    private static final class Paused extends InterruptedIOException {
        private static final long serialVersionUID = 1;
    }

    /**
     * Compares all references.
     *
     * @param before what the scrub has verified
     * @return what was verified, {@code before} included
     * @throws InterruptedIOException if the progress stopped it
     */
    ScrubTotals run(ScrubTotals before) throws IOException {
        totals = before.with(ScrubTotals.References.NONE);
        while (true) {
            pace.await(0, this::goesOn);
            requireGoesOn();
            try {
                return totals.with(found(check.withoutCopies(stopping())));
            } catch (Paused e) {
                log.info("the scrub compares the references from the beginning when it is not paused any more");
            } catch (InterruptedIOException e) {
                throw e;
            } catch (IOException e) {
                log.warn("the scrub cannot compare the references of all files: {}", e.getMessage());
                return totals.with(new ScrubTotals.References(0, e instanceof CorruptionException ? 1 : 0, true));
            }
        }
    }

    private boolean goesOn() {
        return progress.verified(totals, restBytes, ScrubCursor.beginOf(ScrubPhase.REFERENCES));
    }

    private void requireGoesOn() throws InterruptedIOException {
        if (!goesOn()) {
            throw new InterruptedIOException("the scrub was stopped");
        }
    }

    private Progress stopping() {
        return (step, done, of) -> {
            int bytes = step.equals(StoredVolume.REFERENCES) ? DIRECTORY_BYTES : RECORDS_BYTES;
            pace.await(bytes, () -> !pace.isPaused() && goesOn());
            requireGoesOn();
            if (pace.isPaused()) {
                throw new Paused();
            }
        };
    }

    private static ScrubTotals.References found(StoredVolume.Report report) {
        long wrong = 0;
        long defects = 0;
        boolean passedOver = false;
        for (Finding finding : report.findings()) {
            passedOver |= finding.kind() == Kind.NOT_CHECKED;
            if (finding.severity() == Severity.NOTE || OF_CONTAINERS.contains(finding.kind())) {
                continue;
            }
            if (finding.kind() == Kind.WRONG_REFERENCE) {
                wrong++;
            } else {
                defects++;
            }
            if (wrong + defects <= MOST_LINES) {
                log.error("the scrub found that {}{}; {}", finding.what(), files(finding.files()), finding.mend());
            }
        }
        return new ScrubTotals.References(wrong, defects, passedOver);
    }

    private static String files(List<DamagedFile> files) {
        if (files.isEmpty()) {
            return "";
        }
        List<String> some =
                files.stream().limit(MOST_FILES).map(ReferenceScrub::name).toList();
        int more = files.size() - some.size();
        return "; files: " + String.join(", ", some) + (more == 0 ? "" : " and " + more + " more");
    }

    private static String name(DamagedFile file) {
        String name =
                file.paths().isEmpty() ? "inode " + file.inode() : file.paths().get(0);
        return Printable.line(name) + " (" + file.bytes() + " bytes)";
    }
}
