package org.opendedup.sar.hot.copies;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.opendedup.sar.hot.promotion.HotMemory;
import org.opendedup.sar.ssd.AttachedSsd;
import org.opendedup.sar.ssd.Gate;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.StoreDouble;

/** Opens tiers whose SSD has delays that the test controls. */
public final class GatedSsd implements HotDouble {
    public final Gate writes = new Gate();
    public final Gate reads = new Gate();
    /** Heap bytes for offers; less than 0: as the volume plans it. */
    public long offerBytes = -1;
    /** Whether offers are lost uncounted, for the controls of the counters. */
    public boolean losesOffers;

    @Override
    public OpenerDouble ssds() {
        return new OpenerDouble(StoreDouble.gated(writes, reads), ssd -> losesOffers ? losing(ssd) : ssd);
    }

    @Override
    public HotMemory given(HotMemory memory) {
        return offerBytes < 0 ? memory : new HotMemory(memory.tableBytes(), offerBytes);
    }

    /** The same SSD, but it never reports every eighth chunk that it accepts. */
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
}
