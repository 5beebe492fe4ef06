# SPDX-License-Identifier: GPL-3.0-or-later
# networks.tcl - writes the workload files of published vision and recommendation networks.
#   tharsis -no_init -exit scripts/networks.tcl FOLDER
# Layers and hyper-parameters are those of the papers that the files name and, where torchvision has
# the network, of its implementation. Activations behind a conv and dropouts have no layer of their
# own; the parameters of vectors that are added or multiplied (class tokens, positions, scales of a
# layer) are not counted.

namespace eval networks {
    variable layers {}
    variable last input
    variable own 0

    # Adds a layer, which reads the one before it unless it says otherwise, and returns its name.
    proc add {name type args} {
        variable layers
        variable last
        set text "    { name = \"$name\"; type = \"$type\";"
        if {![dict exists $args inputs] && $last ne [lindex $layers end 0] && $layers ne ""} {
            dict set args inputs $last
        }
        dict for {key value} $args {
            if {$key eq "inputs"} {
                set value [expr {[llength $value] == 1 ? "\"$value\"" :
                    "\[[join [lmap v $value {set _ \"$v\"}] {, }]\]"}]
            } elseif {[llength $value] > 1} {
                set value "\[[join $value {, }]\]"
            }
            append text " $key = $value;"
        }
        lappend layers [list $name "$text }"]
        return [set last $name]
    }
    # A convolution with a norm; padding that keeps the size at stride 1.
    proc conv {name outputs {kernel 1} {stride 1} args} {
        set all [list outputs $outputs]
        if {$kernel ne "1"} {lappend all kernel $kernel}
        if {$stride != 1} {lappend all stride $stride}
        set pads [lmap k $kernel {expr {$k / 2}}]
        if {[dict exists $args padding]} {set pads [dict get $args padding]}
        dict unset args padding
        if {$pads ne "0"} {lappend all padding $pads}
        if {![dict exists $args bias]} {lappend all norm true}
        dict unset args norm
        add $name conv {*}$all {*}$args
    }
    proc pool {name type kernel stride {padding 0}} {
        add $name $type kernel $kernel stride $stride padding $padding
    }
    # Works on from, and leaves last where it was.
    proc at {from script} {
        variable last
        set last $from
        uplevel 1 $script
    }

    proc write {folder name title input {precision fp16}} {
        variable layers
        variable last
        variable own
        lassign $input c h w
        set f [open [file join $folder $name.cfg] w]
        puts $f "# SPDX-License-Identifier: GPL-3.0-or-later"
        foreach line [split $title \n] {puts $f "# $line"}
        puts $f "name = \"$name\";\nbatch = 1;\nprecision = \"$precision\";"
        if {$own} {puts $f "shapes = \"own\";"}
        puts $f "input = { channels = $c; height = $h; width = $w; };\nlayers = ("
        puts $f "[join [lmap l $layers {lindex $l 1}] ,\n]\n);"
        close $f
        set layers {}
        set last input
        set own 0
    }

    # ---- residual networks ---------------------------------------------------------------------

    proc shortcut {name from outputs stride is_needed} {
        if {!$is_needed} {return $from}
        at $from {conv $name.down $outputs 1 $stride}
    }
    proc bottleneck {name width outputs stride is_first} {
        variable last
        set from $last
        conv $name.c1 $width
        conv $name.c2 $width 3 $stride
        set out [conv $name.c3 $outputs]
        add $name.add add inputs [list $out [shortcut $name $from $outputs $stride $is_first]]
    }
    proc basic {name outputs stride is_first} {
        variable last
        set from $last
        conv $name.c1 $outputs 3 $stride
        set out [conv $name.c2 $outputs 3]
        add $name.add add inputs [list $out [shortcut $name $from $outputs $stride $is_first]]
    }
    proc resnet {folder name blocks} {
        conv conv1 64 7 2
        pool pool1 max_pool 3 2 1
        set width 64
        foreach n $blocks stage {1 2 3 4} {
            for {set i 0} {$i < $n} {incr i} {
                bottleneck l$stage.$i $width [expr {4 * $width}] \
                    [expr {$i == 0 && $stage > 1 ? 2 : 1}] [expr {$i == 0}]
            }
            set width [expr {2 * $width}]
        }
        add avgpool mean_pool
        add fc fc outputs 1000
        write $folder $name "ResNet: \"Deep residual learning for image recognition\" (He et al.,\
            2015), as torchvision has it." {3 224 224}
    }

    # Three images (colour, depth, infrared) through a branch each; features are joined by the
    # channels. args: what a branch begins with.
    proc three_branches {folder name title size first classes stem} {
        variable own 1
        variable last
        set joined {}
        foreach branch {color depth infrared} {
            add $branch copy inputs input in_channels 3 in_height $size in_width $size
            eval $stem
            foreach {stage outputs} {1 64 2 128} {
                foreach i {0 1} {
                    basic $branch.l$stage.$i $outputs [expr {$i == 0 && $stage == 2 ? 2 : 1}] \
                        [expr {$i == 0 && ($stage == 2 || $first != 64)}]
                }
            }
            set from $last
            gate $branch.se 128 8
            lappend joined $last
        }
        add join concat inputs $joined
        foreach {stage outputs} {3 256 4 512} {
            foreach i {0 1} {
                basic l$stage.$i $outputs [expr {$i == 0 ? 2 : 1}] [expr {$i == 0}]
            }
        }
        add avgpool mean_pool
        add fc fc outputs $classes
        write $folder $name $title [list 3 $size $size]
    }

    # Squeeze and excitation: a factor for every channel.
    proc gate {name channels inner} {
        variable last
        set from $last
        add $name.pool mean_pool
        conv $name.reduce $inner 1 1 bias true
        conv $name.expand $channels 1 1 bias true
        set factors [add $name.sigmoid sigmoid]
        add $name.scale scale inputs [list $from $factors]
    }

    # ---- mobile networks -----------------------------------------------------------------------

    proc inverted {name in wide out kernel stride squeeze} {
        variable last
        set from $last
        if {$wide != $in} {conv $name.expand $wide}
        conv $name.depth $wide $kernel $stride groups $wide
        if {$squeeze > 0} {gate $name.se $wide $squeeze}
        set made [conv $name.project $out]
        if {$stride == 1 && $in == $out} {add $name.add add inputs [list $made $from]}
    }
    # Multiples of 8, not more than a tenth below.
    proc by_eight {x} {
        set n [expr {max(8, int($x + 4) / 8 * 8)}]
        expr {$n < 0.9 * $x ? $n + 8 : $n}
    }
    proc mobilenet_v3 {folder size rows last_channels classes} {
        conv conv1 16 3 2
        set in 16
        set i 0
        foreach {kernel wide out squeezes stride} $rows {
            inverted b[incr i] $in $wide $out $kernel $stride \
                [expr {$squeezes ? [by_eight [expr {$wide / 4.0}]] : 0}]
            set in $out
        }
        conv conv2 [expr {6 * $in}]
        add avgpool mean_pool
        add fc1 fc outputs $last_channels
        add fc2 fc outputs $classes
        write $folder mobilenet_v3_$size "MobileNetV3 ($size): \"Searching for MobileNetV3\"\
            (Howard et al., 2019), as torchvision has it." {3 224 224}
    }
    proc efficientnet_b0 {folder} {
        conv stem 32 3 2
        set in 32
        set i 0
        foreach {kernel times out stride expand} {
            3 1 16 1 1  3 2 24 2 6  5 2 40 2 6  3 3 80 2 6  5 3 112 1 6  5 4 192 2 6  3 1 320 1 6
        } {
            for {set k 0} {$k < $times} {incr k} {
                inverted b[incr i] $in [expr {$in * $expand}] $out $kernel \
                    [expr {$k == 0 ? $stride : 1}] [expr {max(1, $in / 4)}]
                set in $out
            }
        }
        conv head 1280
        add avgpool mean_pool
        add fc fc outputs 1000
        write $folder efficientnet_b0 "EfficientNet-B0: \"EfficientNet: rethinking model\
            scaling for convolutional neural networks\"\n(Tan, Le, 2019), as\
            torchvision has it." {3 224 224}
    }

    # ---- others of images ----------------------------------------------------------------------

    proc vgg19 {folder} {
        set i 0
        foreach {outputs times} {64 2 128 2 256 4 512 4 512 4} {
            incr i
            for {set k 1} {$k <= $times} {incr k} {conv c$i.$k $outputs 3 1 bias true}
            pool pool$i max_pool 2 2
        }
        add fc1 fc outputs 4096
        add fc2 fc outputs 4096
        add fc3 fc outputs 1000
        write $folder vgg19 "VGG-19: \"Very deep convolutional networks for large-scale image\
            recognition\" (Simonyan,\nZisserman, 2014), as torchvision has it." {3 224 224}
    }
    proc densenet121 {folder} {
        variable last
        conv conv0 64 7 2
        pool pool0 max_pool 3 2 1
        set channels 64
        set stage 0
        foreach n {6 12 24 16} {
            incr stage
            for {set i 1} {$i <= $n} {incr i} {
                set from $last
                add d$stage.$i.norm norm
                conv d$stage.$i.c1 128
                set new [add d$stage.$i.c2 conv outputs 32 kernel 3 padding 1 bias false]
                add d$stage.$i.join concat inputs [list $from $new]
                incr channels 32
            }
            if {$stage == 4} {break}
            add t$stage.norm norm
            set channels [expr {$channels / 2}]
            add t$stage.conv conv outputs $channels bias false
            pool t$stage.pool mean_pool 2 2
        }
        add norm5 norm
        add avgpool mean_pool
        add fc fc outputs 1000
        write $folder densenet121 "DenseNet-121: \"Densely connected convolutional networks\"\
            (Huang et al., 2016), as torchvision has it." {3 224 224}
    }
    proc convnext_tiny {folder} {
        variable last
        add stem conv outputs 96 kernel 4 stride 4
        add stem.norm layer_norm
        set stage 0
        foreach {width n} {96 3 192 3 384 9 768 3} {
            incr stage
            if {$stage > 1} {
                add down$stage.norm layer_norm
                add down$stage conv outputs $width kernel 2 stride 2
            }
            for {set i 0} {$i < $n} {incr i} {
                set name s$stage.$i
                set from $last
                conv $name.depth $width 7 1 groups $width bias true
                add $name.norm layer_norm
                add $name.up conv outputs [expr {4 * $width}]
                add $name.gelu gelu
                add $name.down conv outputs $width
                set made [add $name.scale scale]
                add $name.add add inputs [list $made $from]
            }
        }
        add avgpool mean_pool
        add head.norm layer_norm
        add head fc outputs 1000
        write $folder convnext_tiny "ConvNeXt-T: \"A ConvNet for the 2020s\" (Liu et al., 2022), as\
            torchvision has it." {3 224 224}
    }
    proc vit_b_16 {folder} {
        variable last
        add patches conv outputs 768 kernel 16 stride 16
        add tokens copy outputs 768 height 197 width 1
        add positions shift
        for {set i 0} {$i < 12} {incr i} {
            set from $last
            add e$i.norm1 layer_norm
            add e$i.qkv matmul columns 2304 bias true
            add e$i.attention attention heads 12
            set made [add e$i.project matmul columns 768 bias true]
            set from [add e$i.add1 add inputs [list $made $from]]
            add e$i.norm2 layer_norm
            add e$i.up matmul columns 3072 bias true
            add e$i.gelu gelu
            set made [add e$i.down matmul columns 768 bias true]
            add e$i.add2 add inputs [list $made $from]
        }
        add norm layer_norm
        add class copy height 1
        add head fc outputs 1000
        write $folder vit_b_16 "ViT-B/16: \"An image is worth 16x16 words\" (Dosovitskiy et al.,\
            2020), as torchvision has it." {3 224 224}
    }

    # Branches of {OUTPUTS KERNEL ?STRIDE ?PADDING??}, or {pool TYPE KERNEL STRIDE PADDING}, and so
    # on, from the present layer; joined.
    proc branches {name list} {
        variable last
        set from $last
        set ends {}
        set b 0
        foreach branch $list {
            set last $from
            set i 0
            incr b
            foreach step $branch {
                incr i
                if {[lindex $step 0] eq "pool"} {
                    pool $name.$b.$i {*}[lrange $step 1 end]
                } else {
                    lassign $step outputs kernel stride padding
                    set more [expr {$padding eq "" ? {} : [list padding $padding]}]
                    conv $name.$b.$i $outputs $kernel [expr {$stride eq "" ? 1 : $stride}] {*}$more
                }
            }
            lappend ends $last
        }
        add $name concat inputs $ends
    }
    # Two convolutions of halves of a kernel of 3 x 3, side by side.
    proc inception_e {name} {
        variable last
        set from $last
        set ends [list [conv $name.1 320]]
        at $from {conv $name.2 384}
        set middle $last
        lappend ends [conv $name.2a 384 {1 3}]
        at $middle {lappend ends [conv $name.2b 384 {3 1}]}
        at $from {conv $name.3 448}
        set middle [conv $name.4 384 3]
        lappend ends [conv $name.4a 384 {1 3}]
        at $middle {lappend ends [conv $name.4b 384 {3 1}]}
        at $from {pool $name.pool mean_pool 3 1 1}
        lappend ends [conv $name.5 192]
        add $name concat inputs $ends
    }
    proc inception_v3 {folder} {
        conv c1 32 3 2 padding 0
        conv c2 32 3 1 padding 0
        conv c3 64 3
        pool pool1 max_pool 3 2
        conv c4 80
        conv c5 192 3 1 padding 0
        pool pool2 max_pool 3 2
        foreach {name pooled} {a1 32 a2 64 a3 64} {
            branches $name [list {{64 1}} {{48 1} {64 5}} {{64 1} {96 3} {96 3}} \
                [list {pool mean_pool 3 1 1} [list $pooled 1]]]
        }
        branches b {{{384 3 2 0}} {{64 1} {96 3} {96 3 2 0}} {{pool max_pool 3 2}}}
        foreach {name n} {c1_7 128 c2_7 160 c3_7 160 c4_7 192} {
            branches $name [list {{192 1}} [list [list $n 1] [list $n {1 7}] {192 {7 1}}] \
                [list [list $n 1] [list $n {7 1}] [list $n {1 7}] [list $n {7 1}] {192 {1 7}}] \
                {{pool mean_pool 3 1 1} {192 1}}]
        }
        branches d {{{192 1} {320 3 2 0}} {{192 1} {192 {1 7}} {192 {7 1}} {192 3 2 0}}\
            {{pool max_pool 3 2}}}
        inception_e e1
        inception_e e2
        add avgpool mean_pool
        add fc fc outputs 1000
        write $folder inception_v3 "Inception-v3: \"Rethinking the Inception architecture for\
            computer vision\" (Szegedy et al.,\n2015), as torchvision has it, without the auxiliary\
            classifier." {3 299 299}
    }

    # ---- recommendation ------------------------------------------------------------------------

    # 26 tables with as many rows as the columns of the Criteo Kaggle data have values; one index
    # into each.
    proc dlrm {folder} {
        variable own 1
        variable last
        add dense copy inputs input in_channels 13 in_height 1 in_width 1
        set i 0
        foreach n {512 256 64 16} {set bottom [add bottom[incr i] fc outputs $n]}
        set rows {}
        set i 0
        foreach n {
            1460 583 10131227 2202608 305 24 12517 633 3 93145 5683 8351593 3194 27 14992 5461306 10
            5652 2173 4 7046547 18 15 286181 105 142572
        } {
            lappend rows [add table[incr i] embedding inputs input in_channels 1 in_height 1 \
                in_width 1 outputs 16 vocabulary $n]
        }
        # 27 vectors of 16, and the products of all pairs of them
        add features concat inputs [linsert $rows 0 $bottom]
        set vectors [add vectors copy outputs 16 height 27]
        add pairs matmul inputs [list $vectors $vectors] transposed true
        set pairs [add half copy outputs 351 height 1]
        add top concat inputs [list $bottom $pairs]
        set i 0
        foreach n {512 256 1} {add top[incr i] fc outputs $n}
        add click sigmoid
        write $folder dlrm "DLRM: \"Deep learning recommendation model for personalization and\
            recommendation systems\"\n(Naumov et al., 2019), as its script for the Criteo\
            Kaggle data configures it: 26 tables of width 16." {13 1 1} fp32
    }

    proc write_all {folder} {
        vgg19 $folder
        resnet $folder resnet50 {3 4 6 3}
        resnet $folder resnet152 {3 8 36 3}
        inception_v3 $folder
        densenet121 $folder
        mobilenet_v3 $folder large {
            3 16 16 0 1  3 64 24 0 2  3 72 24 0 1  5 72 40 1 2  5 120 40 1 1  5 120 40 1 1
            3 240 80 0 2  3 200 80 0 1  3 184 80 0 1  3 184 80 0 1  3 480 112 1 1  3 672 112 1 1
            5 672 160 1 2  5 960 160 1 1  5 960 160 1 1
        } 1280 1000
        mobilenet_v3 $folder small {
            3 16 16 1 2  3 72 24 0 2  3 88 24 0 1  5 96 40 1 2  5 240 40 1 1  5 240 40 1 1
            5 120 48 1 1  5 144 48 1 1  5 288 96 1 2  5 576 96 1 1  5 576 96 1 1
        } 1024 1000
        efficientnet_b0 $folder
        convnext_tiny $folder
        vit_b_16 $folder
        three_branches $folder casia_surf "CASIA-SURF: \"A dataset and benchmark for large-scale\
            multi-modal face anti-spoofing\" (Zhang et\nal., 2019): a ResNet-18 up to its second\
            stage for colour, depth and infrared, each gated by squeeze and\nexcitation; the joined\
            features go through its third and fourth." 112 64 2 {
            conv $branch.conv1 64 7 2
            pool $branch.pool1 max_pool 3 2 1
        }
        three_branches $folder facebagnet "FaceBagNet: \"FaceBagNet: bag-of-local-features model\
            for multi-modal face anti-spoofing\" (Shen et\nal., 2019): patches of three images\
            through a residual branch each, whose features are joined." 96 32 2 {
            conv $branch.conv1 32 3 2
            pool $branch.pool1 max_pool 3 2 1
        }
        dlrm $folder
    }
}
networks::write_all [lindex $argv 0]
