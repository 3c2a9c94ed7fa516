package org.opendedup.sar.sim.tddfs;

import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.opendedup.sar.sim.tddfs.design.AllDedup;
import org.opendedup.sar.sim.tddfs.design.Design;
import org.opendedup.sar.sim.tddfs.design.FastTierNoDedup;
import org.opendedup.sar.sim.tddfs.design.NoDedup;
import org.opendedup.sar.sim.tddfs.design.SlowTierOnly;
import org.opendedup.sar.sim.tddfs.design.Tddfs;
import org.opendedup.sar.sim.tddfs.design.TddfsSar;
import org.opendedup.sar.sim.tddfs.design.Tiers;

/** The designs that are compared. The first five are the paper's (section 5.1). */
public enum DesignKind {
    NO_DEDUP("NoDedup", NoDedup::new),
    ALL_DEDUP("AllDedup", AllDedup::new),
    FAST_TIER_NO_DEDUP("FastTierNoDedup", FastTierNoDedup::new),
    TDDFS("TDDFS", Tddfs::new),
    SLOW_TIER_ONLY("SlowTierOnly", SlowTierOnly::new),
    TDDFS_SAR("TddfsSar", tiers -> new TddfsSar(tiers, false)),
    /** {@link #TDDFS_SAR} with copies of the chunks that writes make. */
    TDDFS_SAR_WRITES("TddfsSarWrites", tiers -> new TddfsSar(tiers, true));

    private final String label;
    private final Function<Tiers, Design> maker;

    DesignKind(String label, Function<Tiers, Design> maker) {
        this.label = label;
        this.maker = maker;
    }

    /** Returns the name for reports and options. */
    public String label() {
        return label;
    }

    /** @throws IllegalArgumentException if there is no such design; names those that exist */
    public static DesignKind of(String label) {
        return Arrays.stream(values())
                .filter(kind -> kind.label.equalsIgnoreCase(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "there is no design '" + label + "'; the designs are " + String.join(", ", labels())));
    }

    /** Returns the names of all designs. */
    public static List<String> labels() {
        return Arrays.stream(values()).map(DesignKind::label).toList();
    }

    Design make(Tiers tiers) {
        return maker.apply(tiers);
    }
}
