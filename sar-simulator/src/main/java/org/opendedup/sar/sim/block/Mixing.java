package org.opendedup.sar.sim.block;

/** Mixes the bits of a number (the finalizer of Steele, Lea and Flood's SplitMix, OOPSLA 2014). */
public final class Mixing {
    /** Difference of two numbers of a sequence that is mixed. */
    public static final long STEP = 0x9e3779b97f4a7c15L;

    private Mixing() {}

    /** Returns a number whose bits all depend on those of {@code value}; different values have different ones. */
    public static long mix(long value) {
        long mixed = (value ^ value >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return mixed ^ mixed >>> 31;
    }
}
