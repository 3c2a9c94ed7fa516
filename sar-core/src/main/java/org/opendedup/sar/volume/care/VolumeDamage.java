package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.check.DamagedFiles;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.volume.care.DamageReport.DamagedRange;
import org.opendedup.sar.volume.care.DamageReport.FileDamage;
import org.opendedup.sar.volume.engine.EngineInUse;

/** Lists the damage of an open volume, and tells about new damage. Safe for use by many threads. */
public final class VolumeDamage {
    private final MetadataStore metadata;
    private final KnownDamage known;
    private final DamageNews news;

    public VolumeDamage(EngineInUse volume) {
        metadata = volume.metadata();
        known = new KnownDamage(volume);
        news = new DamageNews(this::list, known::isAny, DamageNews::files, volume.name());
        volume.damaged().watchedBy(news);
    }

    /** Sets the listener for new damage, and for its end; replaces the previous one. */
    public void listen(NewDamageListener toTell) {
        news.listen(toTell);
    }

    /**
     * Lists the files with damaged bytes. Reads all recipes and all names, while the volume is in use: of a file that
     * changes meanwhile, each page of its recipe is reported in one of the states that it had. Bytes that were written
     * and are not stored yet are not considered.
     *
     * @param progress called for each inode; may end the list with an {@link java.io.InterruptedIOException}
     */
    public DamageReport list(Progress progress) throws IOException {
        DamagePlaces places = known.places();
        DamagedFiles files = new DamagedFiles(metadata, places.lost(), progress, true);
        return report(places, files.run(), files);
    }

    /** @param all has what is not in {@code found} */
    private static DamageReport report(DamagePlaces places, Map<Integer, List<DamagedFile>> found, DamagedFiles all) {
        SortedMap<Long, List<DamagedRange>> ranges = new TreeMap<>();
        Map<Long, DamagedFile> sums = new TreeMap<>();
        long bytes = 0;
        for (Map.Entry<Integer, List<DamagedFile>> fault : found.entrySet()) {
            for (DamagedFile file : fault.getValue()) {
                List<DamagedRange> ofFile = ranges.computeIfAbsent(file.inode(), none -> new ArrayList<>());
                file.ranges().forEach(range -> ofFile.add(new DamagedRange(range.from(), range.to(), fault.getKey())));
                sums.merge(
                        file.inode(),
                        file,
                        (one, other) -> new DamagedFile(
                                one.inode(),
                                one.paths(),
                                List.of(),
                                one.bytes() + other.bytes(),
                                one.moreRanges() + other.moreRanges()));
                bytes += file.bytes();
            }
        }
        List<FileDamage> files = new ArrayList<>();
        ranges.forEach((inode, ofFile) -> {
            DamagedFile sum = sums.get(inode);
            if (sum != null) {
                ofFile.sort(Comparator.comparingLong(DamagedRange::from));
                files.add(new FileDamage(inode, sum.paths(), ofFile, sum.bytes(), sum.moreRanges()));
            }
        });
        Set<Integer> withFiles = new HashSet<>(found.keySet());
        withFiles.addAll(all.moreOfFindings().keySet());
        return new DamageReport(
                places.faults(),
                files,
                all.more().files(),
                bytes + all.more().bytes(),
                places.faults().size() - withFiles.size());
    }
}
