package org.opendedup.sar.check;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;

/**
 * Collects findings in bounded memory: of each kind and severity the first {@value #MAX_OF_A_KIND} on their own, and
 * one that stands for all further ones.
 */
final class FindingList implements CheckFindings {
    static final int MAX_OF_A_KIND = 100;

    /** A finding whose containers and files are not all known yet. */
    private static final class Draft {
        final Severity severity;
        final Kind kind;
        final String what;
        final String mend;
        final List<Long> containers = new ArrayList<>();
        long further;
        String unlisted = "";

        Draft(Severity severity, Kind kind, String what, String mend) {
            this.severity = severity;
            this.kind = kind;
            this.what = what;
            this.mend = mend;
        }
    }

    private final Mend mend;
    private final WrongRanges ranges = new WrongRanges();
    private final List<Draft> drafts = new ArrayList<>();
    private final Map<Kind, Map<Severity, Integer>> counts = new EnumMap<>(Kind.class);
    private final Map<Kind, Map<Severity, Integer>> rests = new EnumMap<>(Kind.class);

    FindingList(Mend mend) {
        this.mend = mend;
    }

    /** Adds a finding that is mended as all of its kind are; see {@link #add(Severity, Kind, String, String)}. */
    @Override
    public int add(Severity severity, Kind kind, String what) {
        return add(severity, kind, what, mend.of(kind));
    }

    /**
     * Adds a finding.
     *
     * @return its number, for {@link #container} and for the files in {@link #findings}
     */
    int add(Severity severity, Kind kind, String what, String command) {
        int count = counts.computeIfAbsent(kind, none -> new HashMap<>()).merge(severity, 1, Integer::sum);
        if (count <= MAX_OF_A_KIND) {
            drafts.add(new Draft(severity, kind, what, command));
            return drafts.size() - 1;
        }
        int rest = rests.computeIfAbsent(kind, none -> new HashMap<>()).computeIfAbsent(severity, none -> {
            drafts.add(new Draft(severity, kind, "", command));
            return drafts.size() - 1;
        });
        drafts.get(rest).further++;
        return rest;
    }

    @Override
    public void container(int finding, long container) {
        List<Long> containers = drafts.get(finding).containers;
        if (containers.size() < Finding.MAX_CONTAINERS) {
            containers.add(container);
        }
    }

    @Override
    public void damaged(int finding, long inode, long from, long to) {
        ranges.add(finding, inode, from, to);
    }

    /** Returns the ranges of files that are damaged for another reason than a chunk that cannot be read. */
    WrongRanges ranges() {
        return ranges;
    }

    /** Says how many damaged ranges of a finding are in none of its files. */
    void unlisted(int finding, long ranges, long bytes) {
        drafts.get(finding).unlisted +=
                "; " + ranges + " more damaged ranges of files, with " + bytes + " bytes, are not listed";
    }

    /** Says how many further files have damaged ranges of a finding. */
    void unlistedFiles(int finding, long files, long bytes) {
        drafts.get(finding).unlisted +=
                "; " + files + " more damaged files, with " + bytes + " damaged bytes, are not listed";
    }

    /** @param files the damaged files by the numbers of the findings */
    List<Finding> findings(Map<Integer, List<DamagedFile>> files) {
        List<Finding> findings = new ArrayList<>();
        for (int number = 0; number < drafts.size(); number++) {
            Draft draft = drafts.get(number);
            String what = draft.further == 0 ? draft.what : draft.further + " more findings like the first ones";
            findings.add(new Finding(
                    draft.severity,
                    draft.kind,
                    what + draft.unlisted,
                    draft.containers.stream().sorted().toList(),
                    files.getOrDefault(number, List.of()),
                    draft.mend));
        }
        return findings;
    }
}
