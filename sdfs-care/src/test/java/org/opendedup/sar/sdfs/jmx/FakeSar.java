package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.SsdEvent;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.demotion.DemotionStatistics;
import org.opendedup.sar.hot.distributor.DistributorStatistics;
import org.opendedup.sar.hot.distributor.Latency;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.promotion.PromotionStatistics;
import org.opendedup.sar.ssd.SsdLogStatistics;

/** An SSD with invented figures, all different. Records the calls that it gets. */
public final class FakeSar implements SarSource {
    /** What happened, in order. */
    public final List<String> events = new ArrayList<>();

    /** How often {@link #status} still says that a sweep is under way. */
    public int sweeps;

    /** What the SSD answers to changes; null: it takes them. */
    public @Nullable IOException failure;

    private SsdState state = SsdState.ONLINE;
    private Path location;
    private HotSettings settings;
    private Consumer<SsdEvent> listener = event -> {};

    public FakeSar(Path location, HotSettings settings) {
        this.location = location;
        this.settings = settings;
    }

    @Override
    public HotChunks.Status status() {
        boolean running = sweeps > 0;
        sweeps = Math.max(0, sweeps - 1);
        return new HotChunks.Status(
                state,
                location,
                state == SsdState.ONLINE ? "" : "an administrator took it away",
                settings,
                1000,
                9000,
                24_000,
                77,
                78,
                16_000_000,
                500 << 20,
                300 << 20,
                new PromotionStatistics(200, 11, 12, 13, 3 << 20, 20, 21, refused()),
                new DemotionStatistics(21, 22, 23, 24, running, running ? 250 : 0, running ? 1000 : 0),
                new DistributorStatistics(
                        132,
                        31,
                        2 << 20,
                        32,
                        33,
                        4 << 20,
                        34,
                        36,
                        35,
                        37,
                        new Latency(100, 90.5, 80, 120, 200, 300, 400),
                        new Latency(200, 9_000, 8_000, 14_000, 20_000, 30_000, 40_000)),
                new SsdLogStatistics(41, 42, 5 << 20, 6 << 20, 43, 44, 45, 46, 47, 48, 7 << 20, 8 << 20));
    }

    /** For each cause another number. */
    private static Map<Refusal, Long> refused() {
        Map<Refusal, Long> refused = new EnumMap<>(Refusal.class);
        for (Refusal refusal : Refusal.values()) {
            refused.put(refusal, 50L + refusal.ordinal());
        }
        return refused;
    }

    @Override
    public void change(HotSettings changed) throws IOException {
        refuseIfBroken();
        events.add("change");
        settings = changed;
    }

    @Override
    public void demoteUpTo(int references) {
        events.add("demote up to " + references);
    }

    @Override
    public void detach() throws IOException {
        refuseIfBroken();
        events.add("detach");
        become(SsdState.DETACHED, "the SSD was taken away; reads come from the disk");
    }

    @Override
    public void attach(Path attached) throws IOException {
        refuseIfBroken();
        events.add("attach " + attached);
        location = attached;
        become(SsdState.ONLINE, "the SSD is in use");
    }

    @Override
    public void listen(Consumer<SsdEvent> toTell) {
        listener = toTell;
    }

    private void become(SsdState now, String message) {
        state = now;
        listener.accept(new SsdEvent(now, message));
    }

    private void refuseIfBroken() throws IOException {
        if (failure != null) {
            throw failure;
        }
    }
}
