# SPDX-License-Identifier: GPL-3.0-or-later
# classic_networks.tcl - writes the workload files of LeNet, AlexNet, VGG16, residual networks,
# MobileNetV2, U-Net, an LSTM and a block of GPT-2, whose names stand in a column.
#   tharsis -no_init -exit scripts/classic_networks.tcl FOLDER
# Layers are those of the papers that the files name. Activations behind a conv and dropouts have no
# layer of their own.

namespace eval classic {
    variable layers {}

    # Adds a layer: its keys in the order in which they are given.
    proc add {name type args} {
        variable layers
        set text ""
        foreach {key value} $args {
            if {$key eq "inputs"} {
                set value [expr {[llength $value] == 1 ? "\"$value\"" :
                    "\[[join [lmap v $value {set _ \"$v\"}] {, }]\]"}]
            }
            append text " $key = $value;"
        }
        lappend layers $name "type = \"$type\";$text"
        return $name
    }
    # width: of the column of names; shape: channels, height and width of the input.
    proc write {folder name head shape width {precision {precision = "fp16"}} {batch 1}} {
        variable layers
        set f [open [file join $folder $name.cfg] w]
        puts $f "# SPDX-License-Identifier: GPL-3.0-or-later"
        foreach line [split [string trim $head] \n] {puts $f "# [string trim $line]"}
        puts $f "name = \"$name\";\nbatch = $batch;\n$precision;"
        puts $f [format "input = { channels = %d; height = %d; width = %d; };" {*}$shape]
        puts $f "layers = ("
        set lines {}
        foreach {layer rest} $layers {
            lappend lines [format "    { name = %-*s %s }" $width "\"$layer\";" $rest]
        }
        puts $f "[join $lines ,\n]\n);"
        close $f
        set layers {}
    }

    # ---- LeNet, AlexNet, VGG -------------------------------------------------------------------

    proc lenet {folder} {
        add c1 conv outputs 6 kernel 5
        add s2 mean_pool kernel 2
        add c3 conv outputs 16 kernel 5
        add s4 mean_pool kernel 2
        add c5 conv outputs 120 kernel 5
        add f6 fc outputs 84
        add f7 fc outputs 10
        write $folder lenet {
            LeNet-5: "Gradient-based learning applied to document recognition" (LeCun et al.,\
                1998), as it is commonly
            implemented: every map of c3 reads every map of s2, pools have no parameters, the\
                output is fully connected.
            61,706 parameters, 416,520 multiply-accumulates.
        } {1 32 32} 5 {precision = "fp32"}
    }
    # outputs: of the five convolutions; pools: the names of the three pools.
    proc alexnet_layers {outputs pools} {
        lassign $outputs a b c d e
        lassign $pools p q r
        add c1 conv outputs $a kernel 11 stride 4 {*}[expr {$a == 64 ? {padding 2} : {}}]
        add $p max_pool kernel 3 stride 2
        add c2 conv outputs $b kernel 5 padding 2
        add $q max_pool kernel 3 stride 2
        foreach {name n} [list c3 $c c4 $d c5 $e] {add $name conv outputs $n kernel 3 padding 1}
        add $r max_pool kernel 3 stride 2
    }
    proc alexnet {folder} {
        alexnet_layers {64 192 384 256 256} {pool1 pool2 pool5}
        foreach {name n} {fc6 4096 fc7 4096 fc8 1000} {add $name fc outputs $n}
        write $folder alexnet {
            AlexNet as in torchvision: "One weird trick for parallelizing convolutional neural
            networks" (Krizhevsky, 2014). 61,100,840 parameters, 714,188,480 multiply-accumulates.
        } {3 224 224} 11 {element_bytes = 2}
        alexnet_layers {96 256 384 384 256} {pool1 pool2 pool3}
        foreach {name n} {fc1 4096 fc2 4096 fc3 1000} {add $name fc outputs $n}
        write $folder alexnet_one {
            AlexNet for one GPU: the layers of "ImageNet classification with deep convolutional\
                neural networks" (Krizhevsky et
            al., 2012) without groups, as Keras models have it. 62,378,344 parameters,\
                1,135,256,096 multiply-accumulates.
        } {3 227 227} 8 {precision = "fp32"}
    }
    proc alexnet_2012 {folder} {
        foreach {name bytes numbers} {alexnet_2012 2 16-bit alexnet_2012_fp32 4 float32} {
            add conv1 conv outputs 96 kernel 11 stride 4
            add pool1 max_pool kernel 3 stride 2
            add conv2 conv outputs 256 kernel 5 padding 2 groups 2
            add pool2 max_pool kernel 3 stride 2
            add conv3 conv outputs 384 kernel 3 padding 1
            add conv4 conv outputs 384 kernel 3 padding 1 groups 2
            add conv5 conv outputs 256 kernel 3 padding 1 groups 2
            write $folder $name [string map [list NUMBERS $numbers] {
                The five convolutions of AlexNet as published: Krizhevsky et al., "ImageNet\
                    Classification with Deep
                Convolutional Neural Networks", 2012. Two groups in conv2, conv4 and conv5,\
                    inputs of 227 x 227, as
                designs for FPGAs report it; NUMBERS numbers. 665,784,864 multiply-accumulates.
            }] {3 227 227} 0 "element_bytes = $bytes"
        }
    }
    proc vgg16_layers {} {
        set i 0
        foreach {pool outputs n} {1 64 2  2 128 2  3 256 3  4 512 3  5 512 3} {
            for {set k 0} {$k < $n} {incr k} {
                add c[incr i] conv outputs $outputs kernel 3 padding 1
            }
            add pool$pool max_pool kernel 2
        }
    }
    proc vgg16 {folder} {
        vgg16_layers
        foreach {name n} {fc1 4096 fc2 4096 fc3 1000} {add $name fc outputs $n}
        write $folder vgg16 {
            VGG-16: "Very deep convolutional networks for large-scale image recognition"\
                (Simonyan and
            Zisserman, 2014). 138,357,544 parameters, 15,470,264,320 multiply-accumulates.
        } {3 224 224} 11 {element_bytes = 2}
        vgg16_layers
        add fc1 conv outputs 4096 kernel 7
        add fc2 conv outputs 4096
        add fc3 conv outputs 1000
        write $folder vgg16_conv {
            VGG-16: "Very deep convolutional networks for large-scale image recognition"\
                (Simonyan and
            Zisserman, 2014) with its fully connected layers as convolutions, as TensorFlow's\
                slim has it: frameworks
            run these by other kernels. 138,357,544 parameters, 15,470,264,320 multiply-accumulates.
        } {3 224 224} 11 {precision = "fp32"}
    }

    # ---- residual networks ---------------------------------------------------------------------

    # Keys of a convolution of a residual network; point: of 1 x 1.
    proc window {kernel stride point} {
        set out [expr {$kernel > 1 ? [list kernel $kernel] : $point}]
        if {$stride > 1} {lappend out stride $stride}
        if {$kernel > 1} {lappend out padding [expr {$kernel / 2}]}
        return $out
    }
    # factor: outputs of a block, as a multiple of its width (1: two convolutions of 3 x 3, else
    # three); wide: of the convolution in the middle, as a multiple of the width.
    proc residual_layers {blocks factor wide point} {
        add conv1 conv outputs 64 {*}[window 7 2 {}] norm true
        set last [add pool1 max_pool kernel 3 stride 2 padding 1]
        set width 64
        foreach n $blocks stage {1 2 3 4} {
            for {set i 0} {$i < $n} {incr i} {
                set p l$stage.$i
                set stride [expr {$i == 0 && $stage > 1 ? 2 : 1}]
                set inner [expr {$wide * $width}]
                set outputs [expr {$factor * $width}]
                set steps [expr {$factor == 1 ? [list $width 3 $stride $width 3 1] :
                    [list $inner 1 1 $inner 3 $stride $outputs 1 1]}]
                set k 0
                foreach {channels kernel by} $steps {
                    set out [add $p.c[incr k] conv outputs $channels \
                        {*}[window $kernel $by $point] norm true]
                }
                if {$i == 0 && ($stage > 1 || $factor > 1)} {
                    set last [add $p.down conv inputs $last outputs $outputs \
                        {*}[window 1 $stride $point] norm true]
                }
                set last [add $p.add add inputs [list $out $last]]
            }
            set width [expr {2 * $width}]
        }
        add avgpool mean_pool
        add fc fc outputs 1000
    }
    proc residual {folder} {
        residual_layers {2 2 2 2} 1 1 {}
        write $folder resnet18 {
            ResNet-18: "Deep residual learning for image recognition" (He et al., 2015), as\
                torchvision has it.
            11,689,512 parameters, 1,814,073,344 multiply-accumulates.
        } {3 224 224} 12
        residual_layers {3 4 6 3} 1 1 {kernel 1}
        write $folder resnet34 {
            ResNet-34: "Deep residual learning for image recognition" (He et al., 2015).
            21,797,672 parameters, 3,663,761,408 multiply-accumulates.
        } {3 224 224} 11 {element_bytes = 2}
        residual_layers {3 4 23 3} 4 1 {kernel 1}
        write $folder resnet101 {
            ResNet-101, stride in the 3 x 3 convolutions as in torchvision:
            "Deep residual learning for image recognition" (He et al., 2015).
            44,549,160 parameters, 7,801,405,440 multiply-accumulates.
        } {3 224 224} 11 {element_bytes = 2}
        residual_layers {3 4 6 3} 4 2 {kernel 1}
        write $folder wrn50_2 {
            Wide ResNet-50-2: "Wide residual networks" (Zagoruyko and Komodakis, 2016).
            68,883,240 parameters, 11,398,021,120 multiply-accumulates.
        } {3 224 224} 11 {element_bytes = 2}
    }
    proc mobilenet_v2 {folder} {
        add conv1 conv outputs 32 {*}[window 3 2 {}] norm true
        set in 32
        set i 0
        # factor, outputs, blocks, stride of the first
        foreach {factor out n first} {
            1 16 1 1  6 24 2 2  6 32 3 2  6 64 4 2  6 96 3 1  6 160 3 2  6 320 1 1
        } {
            for {set k 0} {$k < $n} {incr k} {
                set p b[incr i]
                set wide [expr {$factor * $in}]
                set stride [expr {$k == 0 ? $first : 1}]
                if {$factor > 1} {add $p.expand conv outputs $wide norm true}
                add $p.depth conv outputs $wide {*}[window 3 $stride {}] groups $wide norm true
                set made [add $p.project conv outputs $out norm true]
                if {$k > 0} {set made [add $p.add add inputs [list $made $last]]}
                set last $made
                set in $out
            }
        }
        add conv2 conv outputs 1280 norm true
        add avgpool mean_pool
        add fc fc outputs 1000
        write $folder mobilenet_v2 {
            MobileNetV2: "MobileNetV2: inverted residuals and linear bottlenecks" (Sandler et\
                al., 2018), as torchvision has
            it. A block expands its channels, filters each of them on its own, and projects them\
                down again.
            3,504,872 parameters, 300,774,272 multiply-accumulates.
        } {3 224 224} 14
    }

    # ---- others --------------------------------------------------------------------------------

    proc unet {folder} {
        set twice {
            foreach k {1 2} {add $p.c$k conv outputs $n kernel 3 padding 1 norm true}
        }
        foreach {i n} {1 32 2 64 3 128 4 256} {
            set p enc$i
            eval $twice
            add pool$i max_pool kernel 2
        }
        set p middle
        set n 512
        eval $twice
        foreach {i n} {4 256 3 128 2 64 1 32} {
            set p dec$i
            add up$i conv outputs $n kernel 2 stride 2 transposed true
            add join$i concat inputs [list up$i enc$i.c2]
            eval $twice
        }
        add out conv outputs 1
        add sigmoid sigmoid
        write $folder unet {
            U-Net: "U-Net: convolutional networks for biomedical image segmentation" (Ronneberger\
                et al., 2015), the small
            one of Buda et al., "Association of genomic subtypes of lower-grade gliomas with\
                shape features" (2019): 32
            channels at first, padded convolutions with batch norms, transposed convolutions on\
                the way up.
            7,763,041 parameters, 12,071,206,912 multiply-accumulates.
        } {3 256 256} 12
    }
    proc language {folder} {
        add embed embedding vocabulary 10000 outputs 650
        add lstm1 lstm outputs 650
        add lstm2 lstm outputs 650
        add words matmul columns 10000 bias true
        add softmax softmax
        write $folder lstm_lm {
            The medium language model of "Recurrent neural network regularization" (Zaremba et\
                al., 2014): two LSTM layers of
            650 units over 35 words of a vocabulary of 10,000, batch 20. Words come in as numbers\
                of two bytes.
            19,780,400 parameters, 9,282,000,000 multiply-accumulates of a batch.
        } {1 35 1} 10 {precision = "fp16"} 20
        add ln1 layer_norm
        add qkv matmul columns 2304 bias true
        add attn attention heads 12 causal_rows 1024
        add proj matmul columns 768 bias true
        add add1 add inputs {proj input}
        add ln2 layer_norm
        add up matmul columns 3072 bias true
        add gelu gelu
        add down matmul columns 768 bias true
        add add2 add inputs {down add1}
        write $folder gpt2_block {
            One of the 12 blocks of GPT-2 small: "Language models are unsupervised multitask\
                learners" (Radford et al., 2019),
            width 768, 12 heads, over 1024 tokens. attn becomes attn.q, attn.k, attn.v,\
                attn.scores, attn.softmax and
            attn.context; all scores are computed, the masked half too, unless -fuse makes one\
                layer of these.
            7,087,872 parameters, 8,858,370,048 multiply-accumulates.
        } {768 1024 1} 7
    }

    proc write_all {folder} {
        foreach network {lenet alexnet alexnet_2012 vgg16 residual mobilenet_v2 unet language} {
            $network $folder
        }
    }
}
if {[llength $argv] != 1} {
    error "usage: tharsis -no_init -exit scripts/classic_networks.tcl FOLDER"
}
classic::write_all [lindex $argv 0]
