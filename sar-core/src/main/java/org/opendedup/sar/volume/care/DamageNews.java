package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.metadata.record.DamageNote;
import org.opendedup.sar.metadata.record.DamageNote.How;
import org.opendedup.sar.volume.care.DamageReport.Fault;
import org.opendedup.sar.volume.care.DamageReport.FileDamage;
import org.opendedup.sar.volume.engine.DamageWatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs new damage, and tells the listener: once for each place, with the files that have bytes in it. Looks these up in
 * the background, for all damage that was found since the last look; looking them up reads all recipes.
 */
final class DamageNews implements DamageWatch {
    private static final Logger log = LoggerFactory.getLogger(DamageNews.class);
    private static final long PERIOD_MS = 1000;

    /** Share of the time in which files are looked up, while more and more damage is found: one part of this. */
    private static final int SHARE = 10;

    /** Maximum number of places that are logged at a time; the others are counted. */
    private static final int MAX_WAITING = 100;

    private static final long CLOSING_S = 60;
    static final DamageReport NOTHING = new DamageReport(List.of(), List.of(), 0, 0, 0);

    /** Lists the damaged files. */
    @FunctionalInterface
    interface Lister {
        DamageReport list(Progress progress) throws IOException;
    }

    /** A place with new damage; of a pack that is missing, {@code pack} is its file name. */
    private record Place(String pack, long container, int frame) {}

    private final Lister lister;
    private final BooleanSupplier isDamaged;
    private final Function<DamageFound, String> consequence;
    private final ScheduledExecutorService timer;
    private volatile boolean closing;
    private volatile NewDamageListener listener = new NewDamageListener() {
        @Override
        public void found(DamageFound damage) {}

        @Override
        public void gone() {}
    };

    /** Guarded by this. */
    private Map<Place, DamageNote> waiting = new LinkedHashMap<>();
    /** Guarded by this. */
    private long more;
    /** Whether there was damage, or some was told, that the listener was not told to be gone. The timer's thread's. */
    private boolean wasDamaged;
    /** Used by the timer's thread only. */
    private long nextNanos = System.nanoTime();

    /** @param consequence says in the log what the damage of a place means */
    DamageNews(Lister lister, BooleanSupplier isDamaged, Function<DamageFound, String> consequence, String name) {
        this.lister = lister;
        this.isDamaged = isDamaged;
        this.consequence = consequence;
        // What a pass of healing heals before the first look was there.
        wasDamaged = isDamaged.getAsBoolean();
        timer = Executors.newSingleThreadScheduledExecutor(Threads.named(name + "-damage"));
        var unused =
                timer.scheduleWithFixedDelay(Threads.lasting(this::tick), PERIOD_MS, PERIOD_MS, TimeUnit.MILLISECONDS);
    }

    void listen(NewDamageListener toTell) {
        listener = toTell;
    }

    @Override
    public void found(long container, DamageNote note) {
        add(new Place("", container, note.frame()), note);
    }

    @Override
    public void foundMissing(long pack, long containers) {
        String reason = "the pack is missing, with " + containers + " containers; bring it back";
        add(new Place(PackFormat.fileName(pack), 0, DamageNote.NO_FRAME), DamageNote.now(-1, How.MOUNT, reason));
    }

    private synchronized void add(Place place, DamageNote note) {
        if (waiting.size() < MAX_WAITING) {
            waiting.putIfAbsent(place, note);
        } else if (!waiting.containsKey(place)) {
            more++;
        }
    }

    private void tick() {
        try {
            if (System.nanoTime() - nextNanos >= 0) {
                tell();
            }
            boolean damaged = isDamaged.getAsBoolean();
            if (wasDamaged && !damaged) {
                log.info("no damage is left: all chunks can be read, as far as is known");
                listener.gone();
            }
            wasDamaged = damaged;
        } catch (RuntimeException e) {
            // An exception would end the timer.
            log.warn("new damage could not be reported", e);
        }
    }

    private synchronized boolean isWaiting() {
        return !waiting.isEmpty();
    }

    private void tell() {
        if (!isWaiting()) {
            return;
        }
        wasDamaged = true;
        Map<Place, DamageNote> places;
        long others;
        synchronized (this) {
            places = waiting;
            others = more;
            waiting = new LinkedHashMap<>();
            more = 0;
        }
        long beganNanos = System.nanoTime();
        DamageReport report = look();
        nextNanos = System.nanoTime() + SHARE * (System.nanoTime() - beganNanos);
        places.forEach((place, note) -> tell(place, note, report));
        if (others > 0) {
            log.error("{} more places were found damaged, which the list of damage has", others);
        }
    }

    /** Returns the damaged files; a list without any if they cannot be found. */
    private DamageReport look() {
        if (closing) {
            return NOTHING;
        }
        try {
            return lister.list((step, done, of) -> {
                if (closing) {
                    throw new InterruptedIOException("the volume is being closed");
                }
            });
        } catch (IOException e) {
            log.warn("the files of new damage are not known: {}", e.getMessage());
            return NOTHING;
        }
    }

    private void tell(Place place, DamageNote note, DamageReport report) {
        List<String> paths = new ArrayList<>();
        long morePaths = 0;
        for (FileDamage file : report.files()) {
            boolean isHere = file.ranges().stream()
                    .anyMatch(range -> isAt(place, report.faults().get(range.fault())));
            List<String> names = file.paths().isEmpty() ? List.of("inode " + file.inode()) : file.paths();
            for (String name : isHere ? names : List.<String>of()) {
                if (paths.size() < DamageFound.MAX_PATHS) {
                    paths.add(name);
                } else {
                    morePaths++;
                }
            }
        }
        DamageFound found = new DamageFound(text(place), place.container, note, paths, morePaths);
        log.error(
                "{} cannot be read, found by {}: {}; {}",
                found.place(),
                note.how(),
                Printable.line(note.reason()),
                consequence.apply(found));
        if (!closing) {
            listener.found(found);
        }
    }

    private static boolean isAt(Place place, Fault fault) {
        return place.pack.equals(fault.pack())
                && place.container == fault.container()
                && (place.frame < 0
                        || fault.note().frame() < 0
                        || place.frame == fault.note().frame());
    }

    private static String text(Place place) {
        if (!place.pack.isEmpty()) {
            return "pack " + place.pack;
        }
        return place.frame < 0
                ? "container " + place.container
                : "frame " + place.frame + " of container " + place.container;
    }

    /** Names the files that have bytes in a place. */
    static String files(DamageFound found) {
        if (found.paths().isEmpty()) {
            return "files: none is known";
        }
        String names = "files: " + Printable.line(String.join(", ", found.paths()));
        return found.morePaths() == 0 ? names : names + " and " + found.morePaths() + " more";
    }

    /** Logs what waits, without the files, and ends. */
    @Override
    public void close() {
        closing = true;
        timer.shutdown();
        try {
            if (timer.awaitTermination(CLOSING_S, TimeUnit.SECONDS)) {
                tell();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
