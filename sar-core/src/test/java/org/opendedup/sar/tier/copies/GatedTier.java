package org.opendedup.sar.tier.copies;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.ssd.GatedStore;
import org.opendedup.sar.ssd.GatedStore.Gate;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.SsdStore;
import org.opendedup.sar.ssd.StoreMemory;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.tier.promotion.TierMemory;

/** Opens tiers whose SSD is as slow as a test wants. */
public final class GatedTier implements SsdTier.Opener {
    public final Gate writes = new Gate();
    public final Gate reads = new Gate();
    /** What offers may take of the heap; less than 0: as the volume plans it. */
    public long offerBytes = -1;
    /** Whether offers get lost uncounted, for the controls of what counts them. */
    public boolean losesOffers;

    @Override
    public SsdTier open(
            @Nullable Path location,
            Timeline timeline,
            @Nullable TierSettings settings,
            TierMemory memory,
            CountSource counts,
            String name) {
        TierMemory given = offerBytes < 0 ? memory : new TierMemory(memory.tableBytes(), offerBytes);
        return SsdTier.open(location, timeline, settings, given, counts, name, new Opener(), CopyCheck::byFingerprint);
    }

    /** The same SSD, but of every eighth chunk that it takes nobody hears again. */
    private static AttachedSsd losing(AttachedSsd ssd) {
        AtomicInteger offers = new AtomicInteger();
        return (AttachedSsd) Proxy.newProxyInstance(
                AttachedSsd.class.getClassLoader(), new Class<?>[] {AttachedSsd.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("offer") && offers.incrementAndGet() % 8 == 0) {
                        return OfferAnswer.TAKEN;
                    }
                    try {
                        return method.invoke(ssd, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private final class Opener implements AttachedSsd.Opener {
        @Override
        public void claim(Path location, UUID volume) throws IOException {
            SsdStore.claim(location, volume);
        }

        @Override
        public AttachedSsd open(
                Path location,
                Timeline timeline,
                long capacityBytes,
                StoreMemory memory,
                Runnable makeRoom,
                Consumer<IOException> failure)
                throws IOException {
            SsdStore store =
                    GatedStore.open(location, timeline, capacityBytes, memory, makeRoom, failure, writes, reads);
            StoredCopies copies = new StoredCopies(store, memory);
            return losesOffers ? losing(copies) : copies;
        }
    }
}
